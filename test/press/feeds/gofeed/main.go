// gofeed-check reads feeds from its standard input, as a JSON list of texts, and prints the authors that gofeed finds
// in each: those of the channel, and those of every item.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/mmcdole/gofeed"
)

type authors struct {
	Channel []string   `json:"channel"`
	Items   [][]string `json:"items"`
}

func main() {
	if err := check(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func check() error {
	var feeds []string
	if err := json.NewDecoder(os.Stdin).Decode(&feeds); err != nil {
		return err
	}
	found := []authors{}
	for _, text := range feeds {
		feed, err := gofeed.NewParser().ParseString(text)
		if err != nil {
			return err
		}
		read := authors{Channel: names(feed.Authors), Items: [][]string{}}
		for _, item := range feed.Items {
			read.Items = append(read.Items, names(item.Authors))
		}
		found = append(found, read)
	}
	return json.NewEncoder(os.Stdout).Encode(found)
}

func names(people []*gofeed.Person) []string {
	found := []string{}
	for _, person := range people {
		found = append(found, person.Name)
	}
	return found
}
