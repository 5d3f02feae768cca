import { execFile } from 'node:child_process'
import { access, constants } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import type { Place } from './client.ts'

const waitMs = 20_000

/** The program of a client, where the shell finds one; null where it does not. */
async function findProgram(name: string, { env }: Place): Promise<string | null> {
  for (const folder of (env.PATH ?? '').split(delimiter).filter((path) => path.startsWith('/'))) {
    const file = join(folder, name)
    const runs = await access(file, constants.X_OK).then(
      () => true,
      () => false,
    )
    if (runs) return file
  }
  return null
}

/** The version that a client says it has; null where it is not on the path, or says none in time. */
export async function clientVersion(name: string, place: Place): Promise<readonly number[] | null> {
  const program = await findProgram(name, place)
  if (program === null) return null
  const said = await new Promise<string>((resolve) => {
    const options = { timeout: waitMs, maxBuffer: 64 * 1024, env: { ...place.env } }
    execFile(program, ['--version'], options, (_error, stdout) => resolve(stdout))
  })
  const [, ...parts] = /(\d+)\.(\d+)\.(\d+)/.exec(said) ?? []
  return parts.length === 3 ? parts.map(Number) : null
}

/** Whether a version is older than another. */
export function isOlder(version: readonly number[], than: readonly number[]): boolean {
  const at = than.findIndex((part, i) => part !== version[i])
  return at >= 0 && (version[at] ?? 0) < (than[at] ?? 0)
}
