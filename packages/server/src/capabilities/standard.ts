import type { Capability } from '../ports/capability.ts'
import { agentCapabilities } from './agent/index.ts'
import { alertCapabilities } from './alerts/index.ts'
import { approvalCapabilities } from './approvals/index.ts'
import { calendarCapabilities } from './calendar/index.ts'
import { clientCapabilities } from './client/index.ts'
import { commsCapabilities } from './comms/index.ts'
import { emailCapabilities } from './email/index.ts'
import { filesystemCapabilities } from './filesystem/index.ts'
import { gitCapabilities } from './git/index.ts'
import { inferenceCapabilities } from './inference/index.ts'
import { networkCapabilities } from './network/index.ts'
import { processCapabilities } from './process/index.ts'
import { schedulerCapabilities } from './scheduler/index.ts'
import { scratchCapabilities } from './scratch/index.ts'
import { secretCapabilities } from './secrets/index.ts'
import { sharedCapabilities } from './shared/index.ts'
import { stateCapabilities } from './state/index.ts'
import { systemCapabilities } from './system/index.ts'
import { toolCapabilities } from './tools/index.ts'
import { writeCapabilities } from './writes/index.ts'

/** Every built-in capability. To add one: write its file, name it here. */
export const standardCapabilities: readonly Capability[] = [
  ...agentCapabilities,
  ...alertCapabilities,
  ...approvalCapabilities,
  ...calendarCapabilities,
  ...clientCapabilities,
  ...commsCapabilities,
  ...emailCapabilities,
  ...filesystemCapabilities,
  ...gitCapabilities,
  ...inferenceCapabilities,
  ...networkCapabilities,
  ...processCapabilities,
  ...schedulerCapabilities,
  ...scratchCapabilities,
  ...secretCapabilities,
  ...sharedCapabilities,
  ...stateCapabilities,
  ...systemCapabilities,
  ...toolCapabilities,
  ...writeCapabilities,
]
