import type { Installation } from './installation.ts'

export type Entry = {
  readonly id: string
  readonly agent: string
  readonly capability: string
  readonly result: string
  readonly arguments: Record<string, unknown>
  readonly approval_id: string | null
  /** Of an outcome: the entry that the call began with. */
  readonly intent_id: string | null
  readonly error?: { readonly type: string } | null
}

/** Everything that the log holds, by way of the command that a person gives. */
export const exportedEntries = async (
  gate: Pick<Installation, 'cli'>,
): Promise<readonly Entry[]> => {
  const { stdout } = await gate.cli(['audit', 'export'])
  return stdout
    .split('\n')
    .filter((line) => line.includes('"body"'))
    .map((line) => JSON.parse((JSON.parse(line) as { body: string }).body) as Entry)
}
