import { describe } from 'vitest'
import { agentMusts } from './storage/agents.ts'
import { approvalMusts } from './storage/approvals.ts'
import { grantMusts } from './storage/grants.ts'
import { groupMusts } from './storage/groups.ts'
import { jobMusts } from './storage/jobs.ts'
import { limitMusts } from './storage/limits.ts'
import { messageMusts } from './storage/messages.ts'
import { modelMusts } from './storage/models.ts'
import { nodeMusts } from './storage/nodes.ts'
import type { Open } from './storage/opened.ts'
import { operatorMusts } from './storage/operators.ts'
import { peopleMusts } from './storage/people.ts'
import { processMusts } from './storage/processes.ts'
import { replicaMusts } from './storage/replica.ts'
import { scheduleMusts } from './storage/schedules.ts'
import { secretMusts } from './storage/secrets.ts'
import { serviceMusts } from './storage/services.ts'
import { sharedEventMusts } from './storage/shared-events.ts'
import { transactionMusts } from './storage/transactions.ts'
import { upstreamMusts } from './storage/upstreams.ts'
import { valueMusts } from './storage/values.ts'
import { wakeMusts } from './storage/wakes.ts'
import { writeMusts } from './storage/writes.ts'

export type { OpenedStorage } from './storage/opened.ts'

/** Conformance of every engine: the comments of the ports, as tests. */
export const describeStorage = (name: string, open: Open): void => {
  describe(`storage in ${name}`, () => {
    agentMusts(open)
    approvalMusts(open)
    grantMusts(open)
    peopleMusts(open)
    operatorMusts(open)
    valueMusts(open)
    groupMusts(open)
    limitMusts(open)
    jobMusts(open)
    processMusts(open)
    scheduleMusts(open)
    messageMusts(open)
    wakeMusts(open)
    modelMusts(open)
    nodeMusts(open)
    sharedEventMusts(open)
    upstreamMusts(open)
    serviceMusts(open)
    writeMusts(open)
    replicaMusts(open)
    secretMusts(open)
    transactionMusts(open)
  })
}
