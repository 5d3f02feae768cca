import type { Context } from '../define.ts'
import { toFailure } from '../failure.ts'
import { type Behind, editFiles, putBehind } from './apply-import.ts'
import { type Left, leftWith } from './plan-import.ts'
import type { Prepared } from './prepare-import.ts'

const nothing = { tried: [], known: [], failed: [], connecting: [] }

/** Puts servers behind the gate first, and takes them out of the files last: no client is ever without one. */
export async function runImport(context: Context, { choice, listed, ready }: Prepared) {
  const { tried, known, failed, connecting } = ready ?? nothing
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
  const edited = await editFiles(context, choice.dataDir, behind, connecting)
  left.push(...edited.left)
  const changed = new Set(edited.changed.map(({ file }) => file))
  const placesOf = ({ candidate: { from } }: Behind) =>
    from.filter(({ config }) => changed.has(config.file))
  for (const one of behind)
    if (one.added && placesOf(one).length === 0)
      await context.api.removeUpstream({ name: one.upstream })
  return {
    found: listed,
    unread: choice.found.unread,
    imported: behind
      .filter((one) => placesOf(one).length > 0)
      .map((one) => ({
        upstream: one.upstream,
        tools: one.tools,
        added: one.added,
        from: placesOf(one).map(({ config, name }) => ({ client: config.client.id, server: name })),
      })),
    left: [...choice.left, ...left],
    files: edited.changed,
    failed: left.length > 0,
    served: choice.served,
  }
}

export type Imported = Awaited<ReturnType<typeof runImport>>
