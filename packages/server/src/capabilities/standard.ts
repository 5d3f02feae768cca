import type { Capability } from '../ports/capability.ts'
import { agentCapabilities } from './agent/index.ts'
import { approvalCapabilities } from './approvals/index.ts'
import { filesystemCapabilities } from './filesystem/index.ts'
import { systemCapabilities } from './system/index.ts'

/** Every built-in capability. To add one: write its file, name it here. */
export const standardCapabilities: readonly Capability[] = [
  ...agentCapabilities,
  ...approvalCapabilities,
  ...filesystemCapabilities,
  ...systemCapabilities,
]
