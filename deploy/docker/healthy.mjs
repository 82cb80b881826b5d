// The image's health check: every service of this container answers.
// biome-ignore lint/style/noProcessEnv: nothing of the program is loaded here
const { SERVICES = 'desk,records', PORT = '4321', RECORDS_PORT = '4322' } = process.env;
const ports = { desk: PORT, records: RECORDS_PORT };
try {
  for (const service of SERVICES.split(',')) {
    const { status } = await fetch(`http://127.0.0.1:${ports[service.trim()]}/health`);
    if (status !== 200) throw new Error(`${service} answers ${status}`);
  }
} catch (error) {
  console.error(error.message);
  process.exit(1);
}
