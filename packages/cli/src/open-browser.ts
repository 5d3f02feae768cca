import { spawn } from 'node:child_process'
import type { Io } from './io.ts'

/** Program that opens an address; null where there is no screen. */
const openerOf = ({ env }: Io): readonly string[] | null => {
  if (process.platform === 'darwin') return ['open']
  if (process.platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler']
  return env['DISPLAY'] || env['WAYLAND_DISPLAY'] ? ['xdg-open'] : null
}

/** Whether a browser was asked to open an address; nothing follows where it can't. */
export const openBrowser = (io: Io, address: string): boolean => {
  const [program, ...args] = openerOf(io) ?? []
  // An address from a server is opened as a page, never as something else.
  if (program === undefined || !/^https?:\/\//.test(address)) return false
  const child = spawn(program, [...args, address], { stdio: 'ignore', detached: true })
  child.once('error', () => {})
  child.unref()
  return true
}
