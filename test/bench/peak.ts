// Loaded before a command to learn how much memory it took, with all its threads.
process.on('exit', () => {
  process.stderr.write(`\npeak_rss_kib=${process.resourceUsage().maxRSS}\n`);
});
