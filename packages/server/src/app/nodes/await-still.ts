import type { StoredAgent } from '../../ports/agents.ts'
import type { Workspaces } from '../../ports/workspaces.ts'
import { changeMove, readMoves } from '../agents/agent-moves.ts'
import type { Basics } from '../call/basics.ts'
import type { Op } from '../call/op.ts'
import { factsIn } from './node-record.ts'
import { runs } from './sites.ts'

export type StillDeps = Pick<Basics, 'storage' | 'auditLog' | 'clock'> & {
  readonly node: string
  readonly workspaces: Pick<Workspaces, 'site'>
  /** Whether a call of the agent runs here. None that its record forbids by now may begin after that. */
  readonly callRuns: (agent: string) => Promise<boolean>
  readonly signal: AbortSignal
}

const lookAgainMs = 250
/** Half a minute: nodes look for moves every two seconds, and most calls end within some. */
const looksMax = 120

/** Says of agents that are to leave this node's folder of workspaces whether a call of theirs still runs here. */
export async function tellWhatRuns(deps: StillDeps): Promise<void> {
  const { storage, auditLog, node, workspaces } = deps
  for (const [name, { asked }] of Object.entries(await readMoves(storage.meta))) {
    if (!asked || asked.runs[node] === false) continue
    if ((await storage.agents.find(name))?.site !== workspaces.site) continue
    const running = await deps.callRuns(name)
    if (running === asked.runs[node]) continue
    await auditLog.transaction((tx) =>
      changeMove(tx.meta, name, (move) =>
        move.asked?.generation === asked.generation
          ? { ...move, asked: { ...move.asked, runs: { ...move.asked.runs, [node]: running } } }
          : move,
      ),
    )
  }
}

/**
 * Waits until each node that has the workspace of an agent says that no call of it runs there. Returns words on what is in the
 * way after a while, or null.
 * @SECURITY A node hears of a pause a moment later, and a call that began before it would write into the folder that was copied; move-agent.test.ts.
 */
export async function awaitStill(
  op: Op,
  deps: StillDeps,
  { name, site, generation }: Pick<StoredAgent, 'name' | 'site' | 'generation'>,
): Promise<string | null> {
  const { storage, auditLog, clock, node } = deps
  const ask = (asked: { generation: number; runs: {} } | null): Promise<void> =>
    auditLog.transaction((tx) =>
      changeMove(tx.meta, name, ({ asked: _before, ...move }) =>
        asked ? { ...move, asked } : move,
      ),
    )
  const late = async (): Promise<string | undefined> => {
    const nowMs = await storage.wallMs()
    const told = (await readMoves(storage.meta))[name]?.asked?.runs ?? {}
    return (await storage.nodes.list()).find(
      (one) =>
        factsIn(one).site === site &&
        (one.name === node || runs(one, nowMs)) &&
        told[one.name] !== false,
    )?.name
  }
  const signal = AbortSignal.any([op.signal, deps.signal])
  await ask({ generation, runs: {} })
  try {
    for (let looks = 1; ; looks += 1) {
      await tellWhatRuns(deps)
      const node = await late()
      if (node === undefined) return null
      if (looks === looksMax || signal.aborted) {
        const runs = (await readMoves(storage.meta))[name]?.asked?.runs[node]
        return runs
          ? `a call of it runs on ${node}; wait for it`
          : `${node} has not said whether a call of it runs there; try again`
      }
      await clock.sleep(lookAgainMs, signal)
    }
  } finally {
    await ask(null)
  }
}
