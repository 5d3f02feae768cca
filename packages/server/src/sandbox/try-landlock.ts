import { GatehouseError } from '@gatehouse/contract'
import type { SandboxState } from '../ports/sandbox.ts'
import { type LandlockOptions, spawnInLandlock } from './landlock.ts'
import { judgeLandlock, landlockProbeSpec } from './landlock-probe.ts'
import { probeMs } from './probe.ts'
import { lackOfLandlock } from './remedies.ts'
import { runInSandbox } from './run-in-sandbox.ts'

const lack = (said: string): SandboxState => ({ usable: false, ...lackOfLandlock(said) })

/** Runs a real program with the real rules, filter and launchers, and says what came of it. */
export const tryLandlock = async (tools: LandlockOptions): Promise<SandboxState> => {
  if (tools.hidden.length > 0)
    return lack(`the data of the service lies in a folder of the system (${tools.own})`)
  try {
    const result = await runInSandbox(
      () => spawnInLandlock(landlockProbeSpec(tools.perl, tools.machine), tools),
      { max_output_bytes: 4_096, timeout_ms: probeMs },
      new AbortController().signal,
    )
    const broken = judgeLandlock(result)
    if (broken !== null && !tools.without) return lack(broken)
    const who = tools.user === null ? '' : `, as user ${tools.user.name}`
    const detail = `rules of Landlock, a filter of system calls and limits, without namespaces${who}`
    return { usable: true, backend: 'landlock', detail }
  } catch (cause) {
    if (!(cause instanceof GatehouseError)) throw cause
    return lack(cause.cause instanceof Error ? cause.cause.message : cause.message)
  }
}
