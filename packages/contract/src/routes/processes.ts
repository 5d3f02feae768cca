import { z } from 'zod'
import {
  KilledProcess,
  KillProcess,
  Process,
  ProcessList,
  ProcessLog,
  ProcessState,
  ProcessStream,
} from '../processes.ts'
import { defineRoutes } from './define-routes.ts'
import { page, queryInteger, queryText } from './fields.ts'

/** Absent: the end of the stream. */
const offset = z
  .string()
  .regex(/^\d{1,15}$/, 'expected an integer from 0')
  .transform(Number)
  .optional()
  .meta({ type: 'integer', minimum: 0 })

export const processRoutes = defineRoutes({
  listProcesses: {
    method: 'GET',
    path: '/api/processes',
    summary: 'The programs of agents: those that a call waits for, then those in the background',
    permission: 'read',
    query: z.strictObject({
      agent: queryText().optional(),
      state: ProcessState.optional(),
      ...page({ max: 500, default: 50 }),
    }),
    answer: ProcessList,
  },
  showProcess: {
    method: 'GET',
    path: '/api/processes/:id',
    summary: 'One program of an agent',
    permission: 'read',
    answer: Process,
    errors: ['ProcessNotFound'],
  },
  readProcessLog: {
    method: 'GET',
    path: '/api/processes/:id/logs',
    summary: 'Output of a program, from an offset on or its end',
    permission: 'read',
    query: z.strictObject({
      stream: ProcessStream.default('stdout'),
      offset,
      limit: queryInteger({ min: 1, max: 1_048_576, default: 65_536 }),
    }),
    answer: ProcessLog,
    errors: ['ProcessNotFound', 'ProcessElsewhere'],
  },
  killProcess: {
    method: 'POST',
    path: '/api/processes/:id/kill',
    summary: 'Send a signal to a program, and end it for good if it does not end',
    permission: 'processes.manage',
    body: KillProcess,
    answer: KilledProcess,
    errors: ['ProcessNotFound', 'ProcessNotRunning', 'ProcessElsewhere'],
  },
})
