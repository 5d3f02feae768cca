import { workerData } from 'node:worker_threads'
import { giveWay } from './log/give-way.ts'
import { groupsAt } from './log/read-groups.ts'
import { answerIndexJobs } from './storage/sqlite/answer-index-jobs.ts'
import type { IndexerData } from './storage/sqlite/index-behind.ts'

// The program of the thread that indexes the audit log.
giveWay()
answerIndexJobs(workerData as IndexerData, groupsAt)
