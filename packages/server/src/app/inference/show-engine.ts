import type { EngineState } from '@gatehouse/contract'
import type { Clock } from '../../ports/clock.ts'
import type { EngineInstaller } from '../../ports/engine.ts'
import type { InstalledModels } from '../../ports/models.ts'
import { wallTime } from '../call/wall-time.ts'
import type { EngineKeeper } from './engine-keeper.ts'
import type { EngineSetupRun } from './engine-setup-run.ts'
import type { FairQueue } from './fair-queue.ts'
import type { ModelRecords } from './model-records.ts'

type Parts = {
  readonly keeper: EngineKeeper
  readonly queue: FairQueue
  readonly setup: EngineSetupRun
  readonly records: ModelRecords
  readonly installed: InstalledModels
  readonly installer: EngineInstaller
  readonly clock: Clock
  readonly counts: { readonly requests: number }
}

const statusOf = (keeper: EngineKeeper, isInstalled: boolean): EngineState['status'] => {
  if (keeper.loaded) return 'running'
  if (keeper.loading) return 'starting'
  if (!isInstalled) return 'not_installed'
  return keeper.againMs === null ? 'stopped' : 'backing_off'
}

/** The engine as people see it. */
export async function stateOf(parts: Parts): Promise<EngineState> {
  const { keeper, queue, setup, records, installed, installer, clock, counts } = parts
  const found = await installer.state()
  const models = await installed.list()
  const quarantined: EngineState['quarantined'] = []
  const measures: EngineState['measures'] = []
  for (const model of models) {
    const { id } = model
    const [quarantine, measure] = [await records.quarantine(model), await records.measure(model)]
    if (quarantine) quarantined.push({ id, ...quarantine })
    if (measure) measures.push({ id, ...measure })
  }
  const { loaded, againMs } = keeper
  const model = (loaded?.model ?? keeper.loading)?.id ?? null
  const wall = (ms: number) => wallTime(clock, ms)
  return {
    status: statusOf(keeper, found.installed),
    package: found,
    setup: setup.state,
    model,
    sandbox: loaded?.engine.backend ?? null,
    pid: loaded?.engine.pid ?? null,
    context_tokens: loaded?.engine.context_tokens ?? null,
    memory_bytes: loaded?.engine.memory_bytes ?? null,
    tokens_per_second: measures.find(({ id }) => id === model)?.tokens_per_second ?? null,
    started_at: loaded ? wall(loaded.startedMs) : null,
    active: queue.active,
    waiting: queue.waiting,
    requests: counts.requests,
    crashes: keeper.crashes,
    last_failure: keeper.lastFailure,
    again_at: againMs === null ? null : wall(againMs),
    quarantined,
    measures,
  }
}
