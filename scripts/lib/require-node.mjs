// Imported first by what a person runs, and written so that an old Node can still read it.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)

if (major < 20 || (major === 20 && minor < 20)) {
  console.error(
    'Gatehouse needs Node 20.20 or newer; this is ' +
      process.version +
      ' (' +
      process.execPath +
      ').\nInstall a current version from https://nodejs.org and run the same command again.',
  )
  process.exit(1)
}
