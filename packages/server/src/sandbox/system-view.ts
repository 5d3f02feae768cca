import {
  accessSync,
  constants,
  existsSync,
  lstatSync,
  readlinkSync,
  realpathSync,
  statSync,
} from 'node:fs'

/** View of the host's system for every program inside, all of it read-only. */
export type SystemView = {
  readonly links: readonly { readonly path: string; readonly target: string }[]
  readonly folders: readonly string[]
  /** Below `/etc`, as they are at the time. */
  readonly shown: readonly string[]
  /** Small files below `/etc`, as they were when the service started: each mount costs time. */
  readonly copied: readonly string[]
}

const places = ['/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32']

// Names and look-ups that programs cannot do without, and nothing that tells of this machine.
const shown = [
  '/etc/alternatives',
  '/etc/crypto-policies',
  '/etc/ld.so.cache',
  '/etc/pki/ca-trust/extracted',
  '/etc/pki/tls/certs',
  '/etc/ssl/certs',
]
const copied = [
  '/etc/ca-certificates.conf',
  '/etc/ld.so.conf',
  '/etc/localtime',
  '/etc/magic',
  '/etc/mime.types',
  '/etc/os-release',
  '/etc/protocols',
  '/etc/services',
  '/etc/shells',
  '/etc/ssl/openssl.cnf',
  '/etc/timezone',
]

/** Whether any user may read it: a file that is there and cannot be read breaks more than one that is not. */
const isPublic = (path: string): boolean => {
  try {
    accessSync(path, constants.R_OK)
    const stat = statSync(path)
    const needed = stat.isDirectory() ? 0o5 : 0o4
    return (stat.mode & needed) === needed
  } catch {
    return false
  }
}

export const loadSystemView = (): SystemView => {
  const links: { path: string; target: string }[] = []
  const folders = ['/usr']
  for (const path of places) {
    const stat = lstatSync(path, { throwIfNoEntry: false })
    if (stat?.isSymbolicLink()) links.push({ path, target: readlinkSync(path) })
    else if (stat?.isDirectory()) folders.push(path)
  }
  return { links, folders, shown: shown.filter(isPublic), copied: copied.filter(isPublic) }
}

/** Libraries alone, and the interpreter of the launcher. */
export const librariesOf = (view: SystemView, perl: string): SystemView => ({
  links: view.links.filter(({ path }) => path.startsWith('/lib')),
  folders: [
    ...view.folders.filter((path) => path.startsWith('/lib')),
    ...places.flatMap((path) =>
      path.startsWith('/lib') && existsSync(`/usr${path}`) ? [`/usr${path}`] : [],
    ),
    ...(perl.startsWith('/usr/local/') ? ['/usr/local/lib'] : []),
    perl,
  ],
  shown: view.shown.filter((path) => path === '/etc/ld.so.cache'),
  copied: view.copied,
})

/** The real path of a folder that would be seen through the system's own, such as data below `/usr/local`. */
export const seenThrough = (view: Pick<SystemView, 'folders'>, folder: string): string | null => {
  const real = realpathSync(folder)
  return view.folders.some((path) => real.startsWith(`${path}/`)) ? real : null
}
