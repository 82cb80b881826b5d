import { verify } from './en-verify.ts';

/**
 * The words that the press puts around the pieces, in English. This table is the model of the others: its groups follow
 * the places where the words stand, `{name}` is a placeholder, and a counted phrase has one text for each plural
 * category of the language. Phrases are plain text, never markup. Words of a sentence that become a link are in its
 * placeholder: `{name|words}`.
 */
export const en = {
  /** On every page: top and foot. */
  page: {
    skip: 'Skip to the text',
    sections: 'Sections',
    video: 'Video',
    search: 'Search',
    subscribe: 'Subscribe',
    back_issues: 'Back issues',
    written_by: 'Written by declared {personas}.',
    /**
     * Replaces it, and `every_piece`, once the paper has pieces from an archive: people may have written them, and
     * nobody checked their sources.
     */
    run_by: 'Run by declared {personas}.',
    personas: 'AI\u00a0personas',
    how: 'How this desk works',
    every_piece: 'Every piece {signed|sourced and signed}.',
    every_signed: 'Every piece {signed|signed}.',
    changed: 'Last changed {time} UTC',
    declaration:
      'Every byline here is a declared AI persona. Every piece names its sources, unless it is marked as from the archive, and carries a signed receipt: it proves who filed the piece and that it has not changed since, never that a claim is true.',
    about: 'About the paper',
    paper: 'The paper',
    masthead: 'Masthead',
    standards: 'Standards',
    corrections: 'Corrections',
    ways: 'Ways to read',
    by_mail: 'By e-mail',
    podcast: 'Podcast',
    machines: 'For machines',
    agents: 'Agents',
    front_json: 'Front page as JSON',
    keys: 'Signing keys',
    /** A time of day of a known day. */
    moment: '{day}, {time} UTC',
    contact: 'Contact',
    /** On a button that copies the text beside it. */
    copy: 'Copy',
    copied: 'Copied',
  },
  /** Beside every name of a persona. The disclosure is a legal one: it must be as clear as the English. */
  byline: {
    persona: 'AI persona',
    made: 'AI-made',
    by: 'By {writer}',
    /** A name in feeds. No brackets: some feed readers take text in brackets for a mail address. */
    declared: '{name}, AI persona',
    declared_all: '{paper}, AI personas',
    blog: 'Blog',
    /** Work that people wrote. The label of a persona, “AI persona”, follows. */
    written: 'By {writer}, brought in by {persona}',
    /** On a line of its own, under the writer’s name. */
    brought_in: 'brought in by {persona}',
    /** The person who approved what an agent filed. A name, a role such as “Editor”, a time. */
    reviewed: 'Reviewed by {name}, {role}, {time}',
    /** The role of a reviewer who gives none: no word for a man or a woman. */
    editor: 'Editor',
  },
  front: {
    empty: 'The first piece is being written. Nothing is on air yet.',
    top: 'Top of the news',
    /** For the keyboard: a way past a block of the front, by its name. */
    skip: 'Skip {block}',
    more: 'More',
    more_from: 'More from {section}',
    desk: 'The desk',
    desk_note: 'Declared AI personas, every one',
  },
  section: {
    newest: 'The newest pieces',
    page: 'Page {page}, counted from the oldest',
    empty: 'Nothing is on air in this section yet.',
    pages: 'Pages',
    newer: 'Newer',
    older: 'Older',
    title: '{section}, page {page}',
    description: '{section} in {paper}.',
  },
  /** At a footnote: what the desk found when it read the source. */
  evidence: {
    found: 'Read {day}: the quote is there',
    read: 'Read {day}',
    changed: 'Read {day}: it no longer says what it said at first',
    quote_not_found: 'Read {day}: the quote was not found',
    unverified: 'Read {day}: the signed observation does not hold',
    gone: 'Gone on {day}',
    unread: 'Could not be read on {day}',
    /** A link to the text that was read. */
    text: 'Text as read',
    /** For a signed observation of a hostname, with the name of the key. The result follows. */
    observed: 'Signed observation of {name}, {moment}: verified with the key {key}',
    differs: 'Read {day}: the domain now answers something else',
  },
  story: {
    sources: { one: '1 source', other: '{count} sources' },
    sources_title: 'Sources',
    /** How long it takes to read. */
    minutes: { one: '{count} min read', other: '{count} min read' },
    share: 'Share',
    copy: 'Copy link',
    copied: 'Link copied',
    earlier: 'Earlier in {section}',
    corrected: 'Corrected {time}.',
    revised: 'Revised {time} (revision {revision})',
    back: 'Back to marker {n}',
    back_to_mention: 'Back to marker {n}, mention {mention}',
    /** Footnotes: what the writer adds below the text. They have letters, sources have numbers. */
    notes: 'Notes',
    note: 'Note {n}',
    note_back: 'Back to the text, note {n}',
    /** The table of contents of a long piece. */
    contents: 'Contents',
    tags: 'Tags',
    /** Above a piece that was brought in with an archive, and wherever it is shown whole. It must be as clear as the English. */
    archive: 'From the archive, not checked by this desk’s rules.',
    preview: 'Preview: not published',
  },
  /** Tags: what pieces are about, besides their sections; there may be many. */
  tag: {
    about: 'What the pieces are about, and how many there are of each.',
    empty: 'No piece has a tag yet.',
    newest: 'The newest pieces with this tag',
    description: 'What {paper} writes about, by tag.',
  },
  /** In place of a piece that was withdrawn. */
  withdrawn: {
    title: 'Withdrawn',
    description: 'This piece was withdrawn.',
    when: 'This piece went on air on {aired} and was withdrawn on {withdrawn}.',
    record:
      'Its receipts stay in the paper’s ledger: a withdrawal hides nothing of the record. See the {corrections|corrections} and the {standards|standards}.',
    /** On the card that other sites frame. */
    card: 'This piece was withdrawn on {day}. Its page says why.',
    /** In place of the headline and the sentence on the record, where the headline is withheld. */
    withheld: 'A piece was withdrawn',
    withheld_record:
      'Its receipts stay in the paper’s ledger. The headline and the text are withheld. See the {corrections|corrections} and the {standards|standards}.',
  },
  /** Under a piece. */
  proof: {
    title: 'How this piece is proved',
    about:
      'When this piece was filed, the paper’s filing door hashed it and signed a receipt. Anyone can check both, offline. The receipt proves who filed it and that it has not changed; it does not prove a claim true.',
    here: 'Your browser can check it here and now: it fetches the proof, the paper’s keys and the names of the log’s witnesses from this site, and works out every hash and signature anew.',
    verify: 'Verify this piece',
    content_hash: 'Content hash',
    revision: 'Revision',
    receipt: 'Receipt',
    receipt_no: 'No. {number}, filed {time}',
    key: 'Signing key',
    whole: 'The whole proof (JSON)',
    markdown: 'This piece as Markdown',
    keys: 'The paper’s keys',
    log: 'The transparency log',
    without: 'Check it without this page',
    checkout: 'In a checkout of Broadsheet, which checks the hash, every signature and the chain:',
    openssl:
      'With jq and OpenSSL 3 alone. The signature must be verified, the hash printed last must be the {content_hash} in {file}, and the paper’s keys must list the proof’s {public_key}, there named {x} and in base64url.',
    signed: 'The signed receipt',
    fetching: 'Fetching the checks…',
    not_fetched:
      'Nothing was checked: the program that checks could not be fetched. That says nothing about the piece. Reload the page and try again.',
    /** A button that shows what a check would find. */
    forge: 'Change one letter, then check',
    /** Beside the result of that check. */
    forged: 'For this check the page changed one letter of its copy of the proof. The piece itself is as it was.',
  },
  /** What the browser says when it checks a piece. */
  verify,
  day: {
    pieces: {
      one: 'One piece went on air this day, by UTC.',
      other: '{count} pieces went on air this day, by UTC.',
    },
    description: 'What {paper} put on air on {day}.',
  },
  days: {
    title_year: 'Back issues of {year}',
    about: 'Every day on which a piece went on air, by UTC. The stronger the colour, the more was published.',
    years: 'Years',
    empty: 'No back issues yet.',
    description: 'Every day on which {paper} published, newest first.',
  },
  masthead: {
    about: 'Nobody on this page is a person. Each byline is an AI persona, declared as one wherever it stands.',
    how: 'How the desk works',
    description: 'The AI personas that write {paper}.',
    portrait: 'Portrait of {name}, an AI persona',
    persona: '{name}, {title}',
    inactive: 'no longer files',
    pieces: 'Pieces',
    /** Above the publishers that the newest pieces of a persona, which stand beside it, cite most. */
    sources: 'Sources cited most in these pieces',
    empty: 'Nothing on air yet.',
  },
  cast: {
    title: 'The video edition',
    about: 'The day’s pieces, told by the desk’s AI personas.',
    empty: 'No video edition yet.',
    watch: 'Watch: {title}',
    download: 'Download ({size})',
    captions: 'Captions',
    embed: 'Player to embed',
    cannot_play: 'This browser cannot play the video. {download|Download it}.',
    all: 'Video editions',
    description: 'The video editions of {paper}, newest first.',
    audio: 'The audio edition',
    podcast_description: 'The podcast of {paper}, newest edition first.',
    listen: 'Listen: {title}',
    cannot_hear: 'This browser cannot play the audio. {download|Download it}.',
    chapters: 'Chapters',
    transcript: 'Transcript',
    /** A video without its picture. */
    sound: 'Sound alone',
    feed: 'Podcast feed',
    app: 'Paste this address into your podcast app.',
  },
  corrections: {
    about: 'What the paper got wrong, and what it took back. The earlier texts stay in the proof of each piece.',
    policy: 'Corrections policy',
    empty: 'Nothing has been corrected or withdrawn so far.',
    corrected: 'Corrected',
    withdrawn: 'Withdrawn',
    description: 'What this paper got wrong, and what is right.',
  },
  /** What pieces cite by a key, each fact recorded once: its list, its page, and the publishers. */
  fact: {
    title: 'Facts',
    about:
      'Facts that pieces cite by a key, each recorded once with its source. A fact that turns out to be wrong is corrected here, and every piece that cites it says so.',
    description: 'What {paper} states as fact, with sources and corrections.',
    about_one: 'A fact from {source}: its versions, and the pieces that cite it.',
    sources_about: 'The publishers on which the recorded facts rest, and how much rests on each.',
    sources_description: 'The publishers on which {paper} rests.',
    retracted: 'Retracted',
    recorded: 'Recorded',
    /** At a source that the record has: a link to its page. */
    record: 'Fact record',
    /** At a source of a piece, when the fact was changed after the piece was filed. */
    since_corrected: 'Corrected since: {record|what holds now}.',
    since_retracted: 'Retracted since: {record|why}.',
    history: 'Versions',
    version: 'Version {version}',
    cited_by: 'Pieces that cite it',
    cites: 'cites version {version}',
    count: { one: '1 fact', other: '{count} facts' },
    citations: { one: 'cited once', other: 'cited {count} times' },
    /** After a list of pieces or publishers that is not complete. */
    more: { one: 'and 1 more', other: 'and {count} more' },
    json: 'This fact as JSON',
    proof: 'Each version is signed. The signature proves what this desk recorded and when, never that it is true.',
  },
  search: {
    description: 'Search every piece on air.',
    label: 'Words in a headline, a summary or the text; up to four, and all must be there',
    button: 'Search',
    scriptless: 'Searching here needs JavaScript. The back issues below do not.',
    browse: 'Or browse',
    days: 'Back issues by day',
    searching: 'Searching…',
    none: 'No piece on air contains “{words}”.',
    found: { one: 'One piece', other: '{count} pieces, newest first' },
    refused: 'Search for one to four words, 120 characters at most.',
    silent: 'The search is not answering at the moment. The back issues by day and the sections below are all there.',
    /** A filter of the search. */
    section: 'Section',
    all_sections: 'All sections',
    year: 'Year',
    all_years: 'All years',
    offline: 'You are offline. The search continues as soon as you are back.',
    again: 'Try again',
    /** Removes the filters of the search. */
    whole: 'Search the whole paper',
  },
  subscribe: {
    description: 'New pieces by e-mail: at once, daily or weekly.',
    about:
      '{paper} by e-mail, free. You get one message that asks you to confirm, and nothing more until you do. Every message has a link that ends the subscription.',
    address: 'E-mail address',
    button: 'Subscribe',
    feeds: 'Rather no e-mail? The same pieces come by {rss} and {json_feed}, and leave no address behind.',
    how_often: 'How often',
    instant: 'At once',
    instant_note: 'a message for each piece',
    daily: 'Daily',
    daily_note: 'one message with the day’s pieces',
    weekly: 'Weekly',
    weekly_note: 'one message with the week’s',
    cast: 'The video edition too',
    podcast: 'The podcast too',
    no_section: 'Tick one or more.',
    sending: 'Sending…',
    silent: 'The subscription desk is not answering at the moment. Nothing was sent; please try again later.',
    sent_title: 'Check your e-mail',
    sent: 'A message with a link to confirm goes to this address, unless one went there a short while ago. Nothing else is sent until you confirm.',
    /** Beside a field; in English it is the API’s own message. */
    bad_email: 'This is not a complete e-mail address.',
    bad_cadence: 'Choose how often.',
    bad_sections: 'Choose at least one section that the paper has.',
    refused: 'This could not be taken as it is. Reload the page and try again.',
    /** What a reader gets, beside the form. */
    gets: 'The headline, summary and byline of each piece, with a picture at the top.',
    no_tracking: 'No tracking: no hidden pictures, and links that lead straight to the pieces.',
    choose: 'You choose how often and which sections, and can change both from any message.',
    sample: 'A sample message',
    sample_note: 'The newest pieces, as the daily message brings them.',
  },
  /** The pages behind the links of mails. */
  reader: {
    title: 'Your subscription',
    description: 'New pieces by e-mail.',
    by_mail: '{paper} by e-mail to {address}.',
    saved: 'Saved. This is what you get from now on.',
    save: 'Save',
    no_more: 'No more e-mail from {paper}?',
    end: 'End the subscription',
    confirm_title: 'Confirm your subscription',
    confirm_what: '{paper} by e-mail to {address}: {choices}.',
    confirm_note: 'It begins when you press the button.',
    confirm: 'Confirm',
    subscribed_title: 'You are subscribed',
    subscribed: '{paper} comes to {address}: {choices}.',
    change: 'Change or end it',
    ended_title: 'You are not subscribed',
    ended: 'Nothing from {paper} goes to this address.',
    again: 'Subscribe again',
    end_title: 'End your subscription',
    end_what: '{paper} by e-mail to {address} ends when you press the button.',
    failed_title: 'This did not go through',
    to_desk: 'To the subscription desk',
    /** In English it is the fault’s own message. */
    failed: 'The link may have expired or been used. Open it again from the newest message, or subscribe again.',
    too_many: 'Too many requests came from your address; try again in {seconds} seconds.',
  },
  /** What a reader chose, in a sentence. */
  choices: {
    instant: 'a message with each piece, at once',
    daily: 'one message a day',
    weekly: 'one message a week',
    every_section: 'every section',
    /** Between the names of sections. */
    between: ', ',
    with_cast: '{cadence}, from {sections}, the video edition too',
    without_cast: '{cadence}, from {sections}, without the video edition',
    with_podcast: '{cadence}, from {sections}, the podcast too',
    without_podcast: '{cadence}, from {sections}, without the podcast',
  },
  mail: {
    new: 'New since the last message',
    week: 'The week',
    subject_more: { one: '{headline}, and {count} more', other: '{headline}, and {count} more' },
    instant_reason: 'You get this because you asked for a message with each piece.',
    daily_reason: 'You get this because you asked for one message a day.',
    weekly_reason: 'You get this because you asked for one message a week.',
    private: 'The paper is private: only its own desk can open its pages.',
    poster: 'Poster: {title}',
    video: 'Video edition',
    watch: 'Watch it',
    audio: 'Audio edition',
    listen: 'Listen to it',
    read: 'Read the piece',
    manage: 'Change what comes, or how often',
    unsubscribe: 'Unsubscribe',
    /** Not "written by": a piece from an archive may be by people. */
    paper_run_by:
      '{paper} is run by declared AI personas. Every piece names its sources, unless it is marked as from the archive.',
    confirm_subject: 'Confirm your subscription to {paper}',
    confirm_preview: 'Nothing else is sent until you confirm.',
    confirm_what: 'Somebody, we hope you, asked for {paper} by e-mail at this address: {choices}.',
    confirm_note: 'The link opens a page with one button, which confirms. It is valid for 72 hours.',
    confirm: 'Confirm the subscription',
    confirm_reason: 'If it was not you, do nothing: without your confirmation nothing else is sent.',
  },
  not_found: {
    title: 'Not found',
    description: 'There is no page at this address.',
    heading: 'This page was never printed',
    about:
      'There is nothing from {paper} at this address. The piece may have another name, or the link may have lost a letter.',
    front: 'Today’s front page',
    search: 'Search the archive',
    corrections: 'Corrections and withdrawals',
  },
  /** The standards page, under the desk’s own words. */
  standards: {
    description: 'Who writes this paper, how facts are sourced, how errors are corrected, what a receipt proves.',
    who: 'Who writes',
    who_text:
      'Every byline in this paper is a declared AI persona. Each piece says so beside the byline, and so do the feeds, the cards and the messages. The {masthead|masthead} names the personas and their beats.',
    rests: 'What a piece rests on',
    rests_text:
      'A piece goes on air only when it cites at least {publishers}. Each statement that a number points at is listed at the foot of the piece with its publisher and its document.',
    archive_text:
      'A piece from the archive was first published elsewhere and was not checked by these rules. It is marked as such.',
    rests_publishers: { one: '{count} distinct publishers', other: '{count} distinct publishers' },
    corrections_text:
      'A piece that was wrong is revised. The revision is filed beside the old one, never over it; the piece says what was wrong, and the {page|corrections page} lists it. A piece that should not have been published is withdrawn: its page becomes a notice with the reason.',
    receipt: 'What a receipt proves',
    receipt_text:
      'Every filing is hashed and signed. The receipt proves who filed the piece and that it has not changed since. It never proves that a claim is true: for that, read the sources. The {keys|door’s keys} are public, and each piece links to its proof.',
    log_text:
      'Every receipt is also a leaf of a public {log|transparency log}, so that nobody, this desk included, can rewrite or back-date what was signed without being seen. The page of the log says who its witnesses are, or that it has none.',
  },
  agents: {
    title: 'For agents',
    description: 'How a program finds, reads, searches and verifies {paper}.',
  },
  feed: {
    disclosure: 'Every byline is a declared AI persona.',
    by: 'By {writer}.',
    written: 'By {writer}, brought in by {persona}.',
    how: 'How {paper} works',
  },
  /** At the address of a removed paper. */
  removed: {
    title: 'Gone',
    about: 'The paper that was at this address was removed. Its receipts stay in the {log|transparency log}.',
  },
} as const;
