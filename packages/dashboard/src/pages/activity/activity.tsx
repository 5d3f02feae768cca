import type { ActivityEvent } from '@gatehouse/contract'
import { Link } from '@tanstack/react-router'
import { activityText as text } from '../../messages/activity.ts'
import { common } from '../../messages/common.ts'
import { Badge, type BadgeTone } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { SelectField, TextField } from '../../ui/field.tsx'
import { AgentFilter, Filters } from '../../ui/filters.tsx'
import { LongList } from '../../ui/long-list.tsx'
import { numberText } from '../../ui/numbers.ts'
import { Page } from '../../ui/page.tsx'
import { Empty, Loaded } from '../../ui/states.tsx'
import { durationText, ExactTime } from '../../ui/time.tsx'
import { useFilters } from '../../ui/use-filters.ts'
import { Visible } from '../../ui/visible.tsx'
import { choices, isChosen, type Outcome, outcomeOf } from './outcomes.ts'
import { keptMax, useEvents } from './use-events.ts'

const tones: Readonly<Record<Outcome, BadgeTone>> = {
  ran: 'good',
  failed: 'bad',
  denied: 'bad',
  limited: 'warn',
  held: 'warn',
  act: 'neutral',
}

/** One event; it leads to its audit entry, which has the arguments, the decision and the result. */
export const EventRow = ({ event }: { readonly event: ActivityEvent }) => {
  const outcome = outcomeOf(event)
  const isCall = event.type === 'capability_invoked'
  const name = isCall ? event.capability : event.type.replaceAll('_', ' ')
  return (
    <Link
      to="/audit/$id"
      params={{ id: event.id }}
      className="grid grid-cols-[1fr_auto] items-baseline gap-x-3 gap-y-0.5 px-3 py-2 no-underline -outline-offset-2 hover:bg-sunken sm:grid-cols-[8.5rem_9rem_1fr_auto_4.5rem]"
    >
      <span className="text-ink-soft max-sm:order-3">
        <ExactTime at={event.timestamp} />
      </span>
      <span className="truncate max-sm:order-4 max-sm:text-right">
        <Visible text={event.agent || common.person(event.actor)} />
      </span>
      <span className="min-w-0 [overflow-wrap:anywhere] max-sm:order-1">
        <span className="font-medium">{name}</span>{' '}
        <span className="mono text-ink-soft">
          <Visible text={isCall ? event.object : `${event.capability} ${event.object}`.trim()} />
        </span>
      </span>
      <span className="max-sm:order-2">
        <Badge tone={tones[outcome]}>{text.outcome[outcome]}</Badge>
      </span>
      <span className="figure text-right text-ink-soft max-sm:hidden">
        {event.duration_ms > 0 ? durationText(event.duration_ms) : ''}
      </span>
    </Link>
  )
}

const fits = ({ capability, object, type }: ActivityEvent, words: string): boolean => {
  const all = `${capability} ${object} ${type}`.toLowerCase()
  return words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => all.includes(word))
}

export const ActivityPage = () => {
  const [{ agent, outcome, words }, change] = useFilters({ agent: '', outcome: 'all', words: '' })
  const { events, waiting, paused, setPaused, older } = useEvents()
  const choice = choices.find((one) => one === outcome) ?? 'all'
  const shown = events.filter(
    (event) =>
      (agent === '' || event.agent === agent) && isChosen(event, choice) && fits(event, words),
  )
  return (
    <Page
      title={text.title}
      aside={paused && <Badge tone="warn">{text.paused(waiting)}</Badge>}
      actions={
        <Button icon={paused ? 'play' : 'pause'} onClick={() => setPaused(!paused)}>
          {paused ? text.resume : text.pause}
        </Button>
      }
    >
      <Filters>
        <AgentFilter value={agent} onChange={(next) => change({ agent: next })} />
        <SelectField
          label={text.filterOutcome}
          value={choice}
          onChange={({ target }) => change({ outcome: target.value })}
          options={choices.map((value) => ({ value, text: text.outcomes[value] }))}
        />
        <TextField
          label={text.filterWords}
          placeholder={text.filterWordsHint}
          type="search"
          className="sm:w-80"
          value={words}
          onChange={({ target }) => change({ words: target.value })}
        />
      </Filters>
      <Loaded query={older}>
        {() =>
          shown.length === 0 ? (
            <Empty icon="activity" title={events.length === 0 ? text.none : text.noneFits}>
              {text.noneNext}
            </Empty>
          ) : (
            <>
              <LongList label={text.rows} rows={shown} keyOf={({ id }) => id} rowHeight={42}>
                {(event) => <EventRow event={event} />}
              </LongList>
              {events.length >= keptMax && (
                <p className="mt-2 text-ink-soft">{text.kept(numberText(keptMax))}</p>
              )}
            </>
          )
        }
      </Loaded>
    </Page>
  )
}
