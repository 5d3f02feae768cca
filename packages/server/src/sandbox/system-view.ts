import { accessSync, constants, lstatSync, readlinkSync, realpathSync, statSync } from 'node:fs'

/** What every program inside sees of the host's system, all of it read-only. */
export type SystemView = {
  readonly links: readonly { readonly path: string; readonly target: string }[]
  readonly folders: readonly string[]
  readonly files: readonly string[]
}

const places = ['/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32']

/** Names and look-ups that programs cannot do without, and nothing that tells of this machine. */
const etc = [
  '/etc/alternatives',
  '/etc/ca-certificates.conf',
  '/etc/crypto-policies',
  '/etc/ld.so.cache',
  '/etc/ld.so.conf',
  '/etc/ld.so.conf.d',
  '/etc/localtime',
  '/etc/magic',
  '/etc/mime.types',
  '/etc/os-release',
  '/etc/pki/tls/certs',
  '/etc/pki/ca-trust/extracted',
  '/etc/protocols',
  '/etc/services',
  '/etc/shells',
  '/etc/ssl/certs',
  '/etc/ssl/openssl.cnf',
  '/etc/terminfo',
  '/etc/timezone',
]

/** Whether any user may read it: a file that is there and cannot be read breaks more than one that is not. */
const isPublic = (path: string): boolean => {
  try {
    accessSync(path, constants.R_OK)
    const stat = statSync(path)
    return (stat.mode & (stat.isDirectory() ? 0o5 : 0o4)) === (stat.isDirectory() ? 0o5 : 0o4)
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
  return { links, folders, files: etc.filter(isPublic) }
}

/** The folder that would be seen through the system's own, such as data kept below `/usr/local`. */
export const seenThrough = (view: SystemView, folder: string): string | null => {
  const real = realpathSync(folder)
  return view.folders.some((path) => real.startsWith(`${path}/`)) ? real : null
}
