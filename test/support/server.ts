import {
  type CliResult,
  invoke as invokeOnce,
  Installation as OfProgram,
  pause,
  type Run,
  rpc,
} from '../../packages/cli/src/selftest/installation.ts'

export { type CliResult, invokeOnce, pause, type Run, rpc }

export const bin = new URL('../../packages/cli/bin/gatehouse.js', import.meta.url).pathname

/** A data directory of its own, and the command of this checkout working on it. */
export class Installation extends OfProgram {
  constructor(dataDir?: string) {
    super({ command: [process.execPath, bin], environment: process.env }, dataDir)
  }
}

type Sheddable = { readonly error?: { readonly data?: Record<string, unknown> } }

/**
 * What a call was answered that is made again while the service sheds it: on a busy machine its loop is late, and it
 * asks callers to come back in a second. A call that was shed has done nothing.
 */
export const untilTaken = async <A extends Sheddable>(call: () => Promise<A>): Promise<A> => {
  for (;;) {
    const answer = await call()
    if (answer.error?.data?.['reason'] !== 'overloaded') return answer
    await pause(Number(answer.error.data['retry_after_seconds']) * 1_000)
  }
}

/** Call that is made again while the service sheds it; `invokeOnce` is for tests of what is shed. */
export const invoke: typeof invokeOnce = (...call) => untilTaken(() => invokeOnce(...call))
