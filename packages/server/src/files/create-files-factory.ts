import { GatehouseError } from '@gatehouse/contract'
import type { Clock } from '../ports/clock.ts'
import type { Files, FilesFactory } from '../ports/files.ts'
import type { Ids } from '../ports/ids.ts'
import { AgentFiles } from './agent-files.ts'
import { awayFiles } from './away-files.ts'
import { descriptorPathsWork } from './dir.ts'
import { FolderRules } from './folder-rules.ts'
import { holdGiven } from './hold.ts'
import { Root } from './root.ts'
import { Roots } from './roots.ts'
import { sweepLeftovers } from './sweep.ts'
import { Temps } from './temps.ts'
import { Trash } from './trash.ts'

export type FilesOptions = {
  readonly ids: Ids
  readonly clock: Pick<Clock, 'wall' | 'now'>
  /** Refuses files that have more than one name. */
  readonly denyHardlinks?: boolean
  /** Told when clearing up after a killed process fails; it is tried again at the next start. */
  readonly onSweepError?: (error: unknown) => void
  /** The service's own data, which no mount may lead to or hold. */
  readonly own?: string
  /** False walks by path and compares afterwards, as systems without `/proc` must. */
  readonly descriptorPaths?: boolean
}

type Known = { readonly key: string; readonly roots: Roots; readonly files: Files }

/** A root that is refused closes those before it. */
const openRoots = (
  { workspace, mounts }: Pick<Parameters<FilesFactory['open']>[0], 'workspace' | 'mounts'>,
  { byPath, rules }: { readonly byPath: boolean; readonly rules: FolderRules },
): Roots => {
  const [ofWorkspace, ofMount] = [
    { make: true, faultOf: rules.workspaceFault.bind(rules) },
    { make: false, faultOf: rules.mountFault.bind(rules) },
  ]
  const opened: Root[] = []
  const open = (folder: ConstructorParameters<typeof Root>[0]): Root => {
    const root = new Root(folder, byPath)
    opened.push(root)
    return root
  }
  try {
    return Roots.of(
      open({ path: workspace, readOnly: false, ...ofWorkspace }),
      ...mounts.map(({ path, read_only }) => open({ path, readOnly: read_only, ...ofMount })),
    )
  } catch (error) {
    for (const root of opened) root.close()
    throw error
  }
}

/** Opens the folders of agents and holds them open, each agent's once. */
export const createFilesFactory = (options: FilesOptions): FilesFactory & Disposable => {
  const { ids, clock, denyHardlinks = false, onSweepError = () => {} } = options
  const byPath = !(options.descriptorPaths ?? descriptorPathsWork)
  const rules = new FolderRules(options.own ?? null)
  const temps = new Temps()
  const trash = new Trash({ ids, clock })
  const known = new Map<string, Known>()
  /** By the very record: a call asks with the one that the last call asked with. */
  const byRecord = new WeakMap<object, Known>()

  const rootsOf = (name: string, opened: Roots): Roots => known.get(name)?.roots ?? opened

  const openFor = (agent: Parameters<FilesFactory['open']>[0]): Known => {
    const same = byRecord.get(agent)
    if (same && known.get(agent.name) === same) return same
    const { name, workspace, mounts } = agent
    const key = JSON.stringify([workspace, mounts])
    const before = known.get(name)
    // A workspace that came back from another node lies in another folder than the one that went there.
    if (before?.key === key && !before.roots.workspace.replaced) {
      byRecord.set(agent, before)
      return before
    }
    rules.note('agent', agent)
    const roots = openRoots(agent, { byPath, rules })
    // Operations under way with the old roots hold descriptors of their own and end undisturbed.
    before?.roots.close()
    const rootsNow = () => rootsOf(name, roots)
    const files = new AgentFiles({ roots, rootsNow, temps, trash, denyHardlinks })
    const opened = { key, roots, files }
    known.set(name, opened)
    byRecord.set(agent, opened)
    void sweepLeftovers(roots, temps, trash).catch(onSweepError)
    return opened
  }

  return {
    open(agent, reach) {
      const { roots, files } = openFor(agent)
      if (!reach) return files
      const rootsNow = () => rootsOf(agent.name, roots).within(reach)
      return new AgentFiles({
        roots: roots.within(reach),
        rootsNow,
        temps,
        trash,
        denyHardlinks,
      })
    },
    away: awayFiles,
    note: rules.note,
    hold: (path) => holdGiven(path, rules),
    assertMounts(mounts) {
      for (const { path } of mounts) {
        const fault = rules.newMountFault(path, mounts)
        if (fault !== null)
          throw new GatehouseError('InvalidParams', {
            detail: `the mount ${path} is refused: ${fault}`,
          })
      }
    },
    [Symbol.dispose]() {
      for (const { roots } of known.values()) roots.close()
      known.clear()
    },
  }
}
