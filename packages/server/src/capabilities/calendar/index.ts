import type { Capability } from '../../ports/capability.ts'
import { calendars } from './calendars.ts'
import { create } from './create.ts'
import { deleteEvent } from './delete.ts'
import { freeBusy } from './free-busy.ts'
import { read } from './read.ts'
import { search } from './search.ts'
import { update } from './update.ts'

/** Calendars: read from the replica, written through the buffer of the service proxy. */
export const calendarCapabilities: readonly Capability[] = [
  calendars,
  create,
  deleteEvent,
  freeBusy,
  read,
  search,
  update,
]
