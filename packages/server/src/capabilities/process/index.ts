import type { Capability } from '../../ports/capability.ts'
import { kill } from './kill.ts'
import { list } from './list.ts'
import { logs } from './logs.ts'
import { monitor } from './monitor.ts'
import { run } from './run.ts'

/** Programs of an agent, in the sandbox. */
export const processCapabilities: readonly Capability[] = [kill, list, logs, monitor, run]
