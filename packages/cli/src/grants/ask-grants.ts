import type { UpstreamGrants } from '@gatehouse/contract'
import type { Context } from '../define.ts'
import { escapeText } from '../escape-text.ts'
import { isTooWide } from './server-grants.ts'

/** Folders that no server may see as a whole. */
export type Surroundings = { readonly home: string; readonly dataDirs: readonly string[] }

type Folders = UpstreamGrants['folders']

const answers: Readonly<Record<string, 'read' | 'write'>> = {
  y: 'read',
  yes: 'read',
  r: 'read',
  w: 'write',
}

/** Whether somebody sits there who can be asked. */
export const canAsk = ({ io }: Context): boolean => io.stdin.isTTY && io.stderr.isTTY

/** Asks for one thing that a server names; with `--yes` it gets what reads. */
async function ask({ io, yes }: Context, question: string): Promise<'read' | 'write' | 'no'> {
  if (yes) return 'read'
  const answer = await io.stdin.ask(escapeText(question))
  return answers[answer.trim().toLowerCase()] ?? 'no'
}

/** Folders that a person lets a server see. */
export async function askFolders(
  context: Context,
  name: string,
  folders: readonly string[],
  { home, dataDirs }: Surroundings,
): Promise<Folders> {
  const granted: Folders = []
  for (const path of folders) {
    if (dataDirs.some((dataDir) => isTooWide(path, home, dataDir))) {
      const why = 'which holds more than it should see: it is not granted.'
      await context.note(escapeText(`${name} names ${path}, ${why}`))
      continue
    }
    const said = await ask(context, `May ${name} read ${path}? [y, w to write too, N] `)
    if (said !== 'no') granted.push({ path, read_only: said === 'read' })
  }
  return granted
}

/** Hosts that a person lets a server connect to. */
export async function askHosts(
  context: Context,
  name: string,
  hosts: readonly string[],
): Promise<string[]> {
  const granted: string[] = []
  for (const host of hosts)
    if ((await ask(context, `May ${name} connect to ${host}? [y/N] `)) !== 'no') granted.push(host)
  return granted
}
