import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { basename } from 'node:path'

export type Protocol = 'tcp' | 'udp'

const listening = '0A'

const textOf = (file: string): string => {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}

const inodesOf = (port: number, protocol: Protocol): ReadonlySet<string> => {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`
  const inodes = new Set<string>()
  for (const line of [protocol, `${protocol}6`].flatMap((name) =>
    textOf(`/proc/net/${name}`).split('\n').slice(1),
  )) {
    const [, local, , state, , , , , , inode] = line.trim().split(/\s+/)
    if (local?.endsWith(suffix) && (protocol === 'udp' || state === listening) && inode)
      inodes.add(`socket:[${inode}]`)
  }
  return inodes
}

const targetOf = (link: string): string => {
  try {
    return readlinkSync(link)
  } catch {
    // Closed since the folder was read.
    return ''
  }
}

const hasSocket = (pid: string, inodes: ReadonlySet<string>): boolean => {
  const folder = `/proc/${pid}/fd`
  try {
    return readdirSync(folder).some((fd) => inodes.has(targetOf(`${folder}/${fd}`)))
  } catch {
    // The process is somebody else's, or has ended.
    return false
  }
}

/** Program and script, without arguments: those may hold secrets. */
const commandOf = (pid: string): string => {
  const [program = '', script = ''] = (
    textOf(`/proc/${pid}/cmdline`) || textOf(`/proc/${pid}/comm`)
  ).split('\0')
  const shown = script.startsWith('/') ? [program, script] : [program]
  return shown.map((word) => basename(word.trim())).join(' ')
}

/** The process that has this port, where Linux lets this user see it; else null. */
export const findPortHolder = (port: number, protocol: Protocol): string | null => {
  const inodes = inodesOf(port, protocol)
  if (inodes.size === 0) return null
  let pids: string[]
  try {
    pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  } catch {
    return null
  }
  const pid = pids.find((candidate) => hasSocket(candidate, inodes))
  return pid === undefined ? null : `process ${pid} (${commandOf(pid)})`
}
