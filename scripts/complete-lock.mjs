// node scripts/complete-lock.mjs: after `npm install` with a registry that lacks packages for other
// systems, names them in the lock files, so that `npm ci` accepts it everywhere. Their content is
// checked against the registry's own digest when such a system installs them.
import './lib/require-node.mjs'
import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { lockGaps } from './lib/lock-gaps.mjs'
import { lockedFolders } from './lib/locked-folders.mjs'
import { root } from './lib/run.mjs'

const systems = ['android', 'darwin', 'freebsd', 'linux', 'openharmony', 'win32', 'aix', 'sunos']
const processors = ['x64', 'arm64', 'arm', 'ia32', 'ppc64', 'riscv64', 's390x', 'loong64', 'wasm32']

/** Such packages say in their name what they are for: `…-linux-arm64-musl`. */
const platformOf = (name) => {
  const words = name.split(/[-/]/)
  const os = systems.find((system) => words.includes(system))
  const cpu = processors.find((processor) => words.includes(processor))
  const libc = words.includes('musl') ? 'musl' : words.includes('gnu') ? 'glibc' : null
  // WebAssembly runs on every system.
  if (!cpu || (!os && cpu !== 'wasm32'))
    throw new Error(`${name} does not say which system it is for; add it by hand.`)
  return { ...(os ? { os: [os] } : {}), cpu: [cpu], ...(libc ? { libc: [libc] } : {}) }
}

for (const folder of lockedFolders()) {
  const file = path.join(root, folder, 'package-lock.json')
  const lock = JSON.parse(await readFile(file, 'utf8'))
  const gaps = lockGaps(lock.packages)
  for (const { name, version, dev } of gaps) {
    const entry = { version, ...(dev ? { dev } : {}), optional: true, ...platformOf(name) }
    lock.packages[`node_modules/${name}`] = entry
  }
  const order = Object.entries(lock.packages).toSorted(([a], [b]) => a.localeCompare(b, 'en'))
  lock.packages = Object.fromEntries(order)
  if (gaps.length > 0) await writeFile(file, `${JSON.stringify(lock, null, 2)}\n`)
  console.log(
    `${gaps.length} packages for other systems added to ${path.join(folder, 'package-lock.json')}.`,
  )
}
