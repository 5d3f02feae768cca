import { readFile, stat } from 'node:fs/promises'

export { openSocket } from './node-socket.ts'

export const tokenOfEnvironment = (): string | undefined => process.env['GATEHOUSE_AGENT_TOKEN']

/** Refuses a file that others of the machine can read: they would be this agent. */
export const readTokenFile = async (path: string): Promise<string> => {
  const { mode } = await stat(path)
  if (process.platform !== 'win32' && (mode & 0o077) !== 0)
    throw new TypeError(`${path} is open to other users of this machine: chmod 600 ${path}`)
  return (await readFile(path, 'utf8')).trim()
}
