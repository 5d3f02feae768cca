import { GatehouseError } from '@gatehouse/contract'
import type { SandboxState } from '../ports/sandbox.ts'
import { type BubblewrapOptions, spawnInBubblewrap } from './bubblewrap.ts'
import { loadKernelFacts } from './kernel-facts.ts'
import { judgeProbe, probeMs, probeSpec } from './probe.ts'
import { lackOfRights } from './remedies.ts'
import { runInSandbox } from './run-in-sandbox.ts'

const lack = (said: string): SandboxState => ({
  usable: false,
  ...lackOfRights(said, loadKernelFacts()),
})

/** Runs a real program with the real command line, and says what came of it. */
export const tryBubblewrap = async (tools: BubblewrapOptions): Promise<SandboxState> => {
  try {
    const result = await runInSandbox(
      () => spawnInBubblewrap(probeSpec(tools.perl, tools.machine), tools),
      { max_output_bytes: 4_096, timeout_ms: probeMs },
      new AbortController().signal,
    )
    const broken = judgeProbe(result)
    if (broken !== null && !tools.without) return lack(broken)
    const who = tools.user === null ? '' : `, as user ${tools.user.name}`
    const detail = `own namespaces, a filter of system calls and limits${who}`
    return { usable: true, backend: 'bubblewrap', detail }
  } catch (cause) {
    if (!(cause instanceof GatehouseError)) throw cause
    return lack(cause.cause instanceof Error ? cause.cause.message : cause.message)
  }
}
