import type { z } from 'zod'
import { ProxyService } from './proxy.ts'

/** How far a service is read, and how the last sync went: what is told of it as it changes. */
export const ServiceSync = ProxyService.pick({
  name: true,
  status: true,
  reason: true,
  failing_since: true,
  last_sync: true,
  next_sync: true,
  progress: true,
})
export type ServiceSync = z.infer<typeof ServiceSync>
