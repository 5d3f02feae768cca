import type { ActivityEvent } from '@gatehouse/contract'
import { keptMax } from '../../live/live.ts'
import { activityText as text } from '../../messages/activity.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { SelectField, TextField } from '../../ui/field.tsx'
import { AgentFilter, Filters, filtersSet, PeriodFilter, usePeriod } from '../../ui/filters.tsx'
import { LongList } from '../../ui/long-list.tsx'
import { NotListed } from '../../ui/not-listed.tsx'
import { numberText } from '../../ui/numbers.ts'
import { Page } from '../../ui/page.tsx'
import { Empty, Loaded } from '../../ui/states.tsx'
import { useFilters } from '../../ui/use-filters.ts'
import { EventRow } from './event-row.tsx'
import { choices, isChosen } from './outcomes.ts'
import { useEvents } from './use-events.ts'

const fits = ({ capability, object, type }: ActivityEvent, words: string): boolean => {
  const all = `${capability} ${object} ${type}`.toLowerCase()
  return words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => all.includes(word))
}

const none = { agent: '', outcome: 'all', words: '', range: 'all' }

export const ActivityPage = () => {
  const [filters, change] = useFilters(none)
  const { agent, outcome, words, range } = filters
  const { since = '' } = usePeriod(range)
  const { events, waiting, paused, setPaused, notListed, older } = useEvents()
  const choice = choices.find((one) => one === outcome) ?? 'all'
  const shown = events.filter(
    (event) =>
      event.timestamp >= since &&
      (agent === '' || event.agent === agent) &&
      isChosen(event, choice) &&
      fits(event, words),
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
      <Filters set={filtersSet(filters, none)}>
        <AgentFilter value={agent} onChange={(next) => change({ agent: next })} />
        <SelectField
          label={text.filterOutcome}
          value={choice}
          onChange={({ target }) => change({ outcome: target.value })}
          options={choices.map((value) => ({ value, text: text.outcomes[value] }))}
        />
        <PeriodFilter value={range} onChange={(next) => change({ range: next })} />
        <TextField
          label={text.filterWords}
          placeholder={text.filterWordsHint}
          type="search"
          className="sm:w-80"
          value={words}
          onChange={({ target }) => change({ words: target.value })}
        />
      </Filters>
      <NotListed entries={notListed} />
      <Loaded query={older}>
        {() =>
          shown.length === 0 ? (
            <Empty icon="activity" title={events.length === 0 ? text.none : text.noneFits}>
              {text.noneNext}
            </Empty>
          ) : (
            <>
              <LongList
                label={text.rows}
                count={shown.length}
                keyAt={(at) => shown[at]?.id ?? at}
                rowHeight={42}
              >
                {(at) => {
                  const event = shown[at]
                  return event && <EventRow event={event} />
                }}
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
