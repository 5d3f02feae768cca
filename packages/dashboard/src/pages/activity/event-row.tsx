import type { ActivityEvent } from '@gatehouse/contract'
import { Link } from '@tanstack/react-router'
import { activityText as text } from '../../messages/activity.ts'
import { common } from '../../messages/common.ts'
import { Badge, type BadgeTone } from '../../ui/badge.tsx'
import { durationText, ExactTime } from '../../ui/time.tsx'
import { Visible } from '../../ui/visible.tsx'
import { type Outcome, outcomeOf } from './outcomes.ts'

const tones: Readonly<Record<Outcome, BadgeTone>> = {
  ran: 'good',
  failed: 'bad',
  denied: 'bad',
  limited: 'warn',
  held: 'warn',
  act: 'neutral',
}

/** One event, in a line where its place is wide enough; it leads to its audit entry, which has the arguments, the decision and the result. */
export const EventRow = ({ event }: { readonly event: ActivityEvent }) => {
  const outcome = outcomeOf(event)
  const isCall = event.type === 'capability_invoked'
  const name = isCall ? event.capability : event.type.replaceAll('_', ' ')
  return (
    <div className="@container">
      <Link
        to="/audit/$id"
        params={{ id: event.id }}
        className="grid grid-cols-[1fr_auto] items-baseline gap-x-3 gap-y-0.5 px-3 py-2 no-underline -outline-offset-2 hover:bg-sunken @2xl:grid-cols-[8.5rem_9rem_1fr_auto_4.5rem]"
      >
        <span className="text-ink-soft @max-2xl:order-3">
          <ExactTime at={event.timestamp} />
        </span>
        <span className="truncate @max-2xl:order-4 @max-2xl:text-right">
          <Visible text={event.agent || common.person(event.actor)} />
        </span>
        <span className="min-w-0 [overflow-wrap:anywhere] @max-2xl:order-1">
          <span className="font-medium">{name}</span>{' '}
          <span className="mono text-ink-soft">
            <Visible text={isCall ? event.object : `${event.capability} ${event.object}`.trim()} />
          </span>
        </span>
        <span className="@max-2xl:order-2">
          <Badge tone={tones[outcome]}>{text.outcome[outcome]}</Badge>
        </span>
        <span className="figure text-right text-ink-soft @max-2xl:hidden">
          {event.duration_ms > 0 ? durationText(event.duration_ms) : ''}
        </span>
      </Link>
    </div>
  )
}
