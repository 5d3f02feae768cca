import type { Context } from '../define.ts'
import { toFailure } from '../failure.ts'
import { type Behind, editFiles, putBehind } from './apply-import.ts'
import { closeJournal, type ImportSteps, openJournal } from './import-journal.ts'
import { nextNumber } from './import-record.ts'
import { madeConnectionOf } from './made-connection.ts'
import { type Left, leftWith } from './plan-import.ts'
import type { Prepared, Ready } from './prepare-import.ts'

const nothing: Ready = { tried: [], known: [], failed: [], connecting: [] }

async function stepsOf({ tried, known, connecting }: Ready, dataDir: string): Promise<ImportSteps> {
  const candidates = [...tried.map(({ candidate }) => candidate), ...known]
  const files = new Set(candidates.flatMap(({ from }) => from.map(({ config }) => config.file)))
  const first = await nextNumber(dataDir)
  return {
    kind: 'import',
    imports: [...files].map((_file, at) => first + at),
    files: [...files],
    upstreams: tried.map(({ order: { name, server } }) => ({ name, server })),
    connections: connecting.map(({ plan }) => madeConnectionOf(plan)),
  }
}

/** Puts servers behind the gate first, and takes them out of the files last: no client is ever without one. */
async function takeSteps(
  context: Context,
  dataDir: string,
  { tried, known, failed, connecting }: Ready,
) {
  const behind: Behind[] = known.map((candidate) => ({
    ...{ candidate, upstream: candidate.known ?? '', tools: 0, added: false },
  }))
  const left: Left[] = [...failed]
  for (const one of tried)
    try {
      behind.push(await putBehind(context, one))
    } catch (error) {
      left.push(...leftWith(one.candidate, toFailure(error).message))
    }
  const edited = await editFiles(context, dataDir, behind, connecting)
  left.push(...edited.left)
  const changed = new Set(edited.changed.map(({ file }) => file))
  const placed = behind.map((one) => ({
    ...one,
    from: one.candidate.from.filter(({ config }) => changed.has(config.file)),
  }))
  for (const { added, from, upstream } of placed)
    if (added && from.length === 0) await context.api.removeUpstream({ name: upstream })
  return { left, files: edited.changed, imported: placed.filter(({ from }) => from.length > 0) }
}

export async function runImport(context: Context, { choice, listed, ready }: Prepared) {
  const { dataDir, found, served } = choice
  const steps = await stepsOf(ready ?? nothing, dataDir)
  const isEmpty = steps.files.length === 0
  if (!isEmpty) await openJournal(dataDir, steps, null)
  const { imported, left, files } = await takeSteps(context, dataDir, ready ?? nothing)
  if (!isEmpty) await closeJournal(dataDir)
  return {
    found: listed,
    unread: found.unread,
    imported: imported.map(({ upstream, tools, added, from }) => ({
      upstream,
      tools,
      added,
      from: from.map(({ config, name }) => ({ client: config.client.id, server: name })),
    })),
    left: [...choice.left, ...left],
    files,
    failed: left.length > 0,
    served,
  }
}

export type Imported = Awaited<ReturnType<typeof runImport>>
