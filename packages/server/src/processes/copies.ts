import {
  chmodSync,
  closeSync,
  constants,
  mkdirSync,
  mkdtempSync,
  openSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { rm } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { GatehouseError } from '@gatehouse/contract'
import type { ProcessSite } from '../ports/processes.ts'
import type { Code } from './plan.ts'
import { siteRootOf } from './site-roots.ts'

/** A program that stands beside more than that is refused: it would find only some of what it may need. */
const besidesMax = 2_000

export type Copies = AsyncDisposable & {
  /** On the host, while it is open. */
  readonly source: string
  /** Where it is seen by what runs. */
  readonly target: string
  /** Program to run in the place of each; null where the original runs where it is. */
  readonly at: (code: Code) => string | null
}

/** Links to all that stands in a folder, but for the next step on the way to a copy. */
const linkBesides = async (
  { files }: ProcessSite,
  folder: string,
  into: string,
  but: string,
): Promise<void> => {
  const { entries } = await files.list(folder)
  if (entries.length > besidesMax)
    throw new GatehouseError('QuotaExceeded', {
      limit: besidesMax,
      what: 'names beside an approved program or above it',
    })
  for (const { name } of entries)
    if (name !== but) symlinkSync(`${folder}/${name}`, join(into, name))
}

/**
 * Puts what was read at a place that the agent cannot write to, in a folder that looks like the one it comes
 * from: beside the copy, and on each level up to the root, links lead to all that stands there.
 * @SECURITY Whatever is done to the file from now on, these bytes run (process-mutations.test.ts).
 */
export const makeCopies = async (
  site: ProcessSite,
  codes: readonly Code[],
  places: { readonly folder: string; readonly inside: string | null },
): Promise<Copies> => {
  const top = mkdtempSync(join(places.folder, 'run-'))
  const target = places.inside ?? top
  const opened: number[] = []
  const close = async () => {
    for (const fd of opened.splice(0)) closeSync(fd)
    await rm(top, { recursive: true, force: true })
  }
  const at = new Map<Code, string>()
  try {
    for (const [index, code] of codes.entries()) {
      const root = siteRootOf(site, code.path)?.path ?? site.workspace
      const names = relative(root, code.path).split('/')
      let [from, to] = [root, join(top, String(index))]
      mkdirSync(to)
      for (const name of names.slice(0, -1)) {
        await linkBesides(site, from, to, name)
        ;[from, to] = [`${from}/${name}`, join(to, name)]
        mkdirSync(to)
      }
      const last = names.at(-1) ?? 'program'
      await linkBesides(site, from, to, last)
      writeFileSync(join(to, last), code.bytes, { flag: 'wx' })
      chmodSync(join(to, last), 0o555)
      at.set(code, join(target, relative(top, join(to, last))))
      for (let dir = to; dir !== dirname(top); dir = dirname(dir)) chmodSync(dir, 0o755)
    }
    const fd = openSync(top, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW)
    opened.push(fd)
    return {
      source: `/proc/self/fd/${fd}`,
      target,
      at: (code) => at.get(code) ?? null,
      [Symbol.asyncDispose]: close,
    }
  } catch (error) {
    await close()
    throw error
  }
}
