import { readdirSync } from 'node:fs'
import { GatehouseError } from '@gatehouse/contract'
import type { Dir } from './dir.ts'
import { eachByItself } from './each.ts'
import { codeOf } from './failure.ts'
import { depthMax } from './paths.ts'
import { Slice } from './pause.ts'
import type { Root } from './root.ts'
import type { Roots } from './roots.ts'
import type { Temps } from './temps.ts'
import type { Trash } from './trash.ts'

/** Folders looked through when a root is opened; deeper ones are when they are first written again. */
const foldersMax = 5_000

const foldersIn = (dir: Dir): string[] =>
  readdirSync(dir.at, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)

const sweepTemps = async (start: Dir, temps: Temps): Promise<void> => {
  const slice = new Slice()
  let left = foldersMax
  const visit = async (dir: Dir, depth: number): Promise<void> => {
    await temps.sweep(dir)
    if (depth >= depthMax) return
    for (const name of foldersIn(dir)) {
      if (left-- <= 0) return
      if (slice.isDue()) await slice.rest()
      let child: Dir
      try {
        child = dir.child(name)
      } catch {
        continue
      }
      try {
        if (child.holds()) await visit(child, depth + 1)
      } finally {
        child.close()
      }
    }
  }
  await visit(start, 0)
}

const sweepRoot = async (root: Root, temps: Temps, trash: Trash): Promise<void> => {
  if (root.readOnly) return
  const start = root.dir.again()
  try {
    await sweepTemps(start, temps)
  } finally {
    start.close()
  }
  await trash.sweep(root)
}

/** Clears up what a killed process left half-written, and what lay in the trash long enough. */
export const sweepLeftovers = (roots: Roots, temps: Temps, trash: Trash): Promise<void> =>
  eachByItself(roots.all, async (root) => {
    try {
      await sweepRoot(root, temps, trash)
    } catch (error) {
      // The root was closed or has gone meanwhile; then there is nothing to clear up.
      const isGone = error instanceof GatehouseError && error.type === 'PathOutOfScope'
      if (!isGone && codeOf(error) !== 'ENOENT') throw error
    }
  })
