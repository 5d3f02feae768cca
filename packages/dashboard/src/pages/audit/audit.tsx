import type { AuditPage as AuditPageRecord } from '@gatehouse/contract'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { read } from '../../api.ts'
import { auditText as text } from '../../messages/audit.ts'
import { common } from '../../messages/common.ts'
import { Button } from '../../ui/button.tsx'
import { SelectField, TextField } from '../../ui/field.tsx'
import { AgentFilter, Filters, filtersSet } from '../../ui/filters.tsx'
import { LongList, rowsMax } from '../../ui/long-list.tsx'
import { NotListed } from '../../ui/not-listed.tsx'
import { Failure } from '../../ui/notice.tsx'
import { numberText } from '../../ui/numbers.ts'
import { Page } from '../../ui/page.tsx'
import { Empty, Loaded } from '../../ui/states.tsx'
import { useFilters } from '../../ui/use-filters.ts'
import { EntryRow } from './entry-row.tsx'
import { IntegrityBanner } from './integrity.tsx'
import { RootCard } from './root.tsx'
import { type EntryFilter, useEntries } from './use-entries.ts'

const results = ['success', 'error', 'denied', 'pending', 'rejected'] as const
const decisions = ['autonomous', 'approval_required', 'blocked', 'none'] as const

/** Typed text takes effect when it is done: with Enter, or when the field is left. */
const TypedFilter = ({
  label,
  hint,
  value,
  onChange,
}: {
  readonly label: string
  readonly hint: string
  readonly value: string
  readonly onChange: (value: string) => void
}) => {
  const [typed, setTyped] = useState(value)
  return (
    <form
      className="sm:w-72"
      onSubmit={(event) => {
        event.preventDefault()
        onChange(typed.trim())
      }}
    >
      <TextField
        label={label}
        placeholder={hint}
        type="search"
        value={typed}
        onChange={({ target }) => setTyped(target.value)}
        onBlur={() => onChange(typed.trim())}
      />
    </form>
  )
}

const none = {
  agent: '',
  capability: '',
  result: '',
  decision: '',
  since: '',
  until: '',
  session: '',
}

/** A local time of a field, as the API takes it. */
const instant = (local: string): { readonly value?: string } => {
  const at = Date.parse(local)
  return Number.isNaN(at) ? {} : { value: new Date(at).toISOString() }
}

const filterOf = (filters: typeof none): EntryFilter => {
  const { value: since } = instant(filters.since)
  const { value: until } = instant(filters.until)
  const result = results.find((one) => one === filters.result)
  const policy_decision = decisions.find((one) => one === filters.decision)
  return {
    ...(filters.agent === '' ? {} : { agent: filters.agent }),
    ...(filters.capability === '' ? {} : { capability: filters.capability }),
    ...(filters.session === '' ? {} : { session: filters.session }),
    ...(result ? { result } : {}),
    ...(policy_decision ? { policy_decision } : {}),
    ...(since === undefined ? {} : { since }),
    ...(until === undefined ? {} : { until }),
  }
}

/** Space for rows that the list does not have yet, so that rows keep about their place. */
const Unread = () => (
  <div className="h-[2.6rem] px-3 py-2 text-ink-soft" aria-busy="true">
    {common.loading}
  </div>
)

const rowHeight = 41
const shownMax = rowsMax(2 * rowHeight)

const EntryList = ({
  filter,
  now,
}: {
  readonly filter: EntryFilter
  readonly now: AuditPageRecord
}) => {
  const { opened, added, entryAt, onShown, failed } = useEntries(filter, now)
  return (
    <Loaded query={opened}>
      {({ total }) => (
        <>
          <div className="mb-2 flex min-h-11 flex-wrap items-center gap-3">
            <p className="figure text-ink-soft">{text.count(total, numberText(total))}</p>
            {added > 0 && (
              <Button
                onClick={() => {
                  scrollTo({ top: 0 })
                  void opened.refetch()
                }}
              >
                {text.showAdded(added, numberText(added))}
              </Button>
            )}
          </div>
          {failed && <Failure error={failed.error} onRetry={() => void failed.refetch()} />}
          {total === 0 ? (
            <Empty icon="audit" title={text.noEntries}>
              {text.noEntriesNext}
            </Empty>
          ) : (
            <LongList
              label={text.caption}
              count={Math.min(total, shownMax)}
              keyAt={(at) => total - at}
              rowHeight={rowHeight}
              onShown={onShown}
            >
              {(at) => {
                const entry = entryAt(at)
                return entry ? <EntryRow entry={entry} /> : <Unread />
              }}
            </LongList>
          )}
          {total > shownMax && (
            <p className="mt-2 text-ink-soft">{text.onlyNewest(numberText(shownMax))}</p>
          )}
        </>
      )}
    </Loaded>
  )
}

export const AuditPage = () => {
  const [filters, set] = useFilters(none)
  const filter = filterOf(filters)
  const log = useQuery({
    ...read('queryAudit', { ...filter, limit: 1 }),
    placeholderData: keepPreviousData,
  })
  return (
    <Page
      title={text.title}
      actions={
        <a
          href="/api/audit/export"
          download="gatehouse-audit.jsonl"
          className="inline-flex min-h-11 items-center rounded-lg border border-line-strong bg-raised px-3 font-medium no-underline hover:bg-sunken sm:min-h-9"
        >
          {text.export}
        </a>
      }
    >
      <Filters set={filtersSet(filters, none)}>
        <AgentFilter value={filters.agent} onChange={(agent) => set({ agent })} />
        <TypedFilter
          key={filters.capability}
          label={text.filterCapability}
          hint={text.filterCapabilityHint}
          value={filters.capability}
          onChange={(capability) => set({ capability })}
        />
        <SelectField
          label={text.filterResult}
          value={filters.result}
          onChange={({ target }) => set({ result: target.value })}
          options={[
            { value: '', text: common.any },
            ...results.map((value) => ({ value, text: text.result[value] })),
          ]}
        />
        <SelectField
          label={text.policyDecision}
          value={filters.decision}
          onChange={({ target }) => set({ decision: target.value })}
          options={[
            { value: '', text: common.any },
            ...decisions.map((value) => ({ value, text: text.decisions[value] })),
          ]}
        />
        <div className="grid gap-3 sm:flex">
          <TextField
            label={text.filterSince}
            type="datetime-local"
            value={filters.since}
            onChange={({ target }) => set({ since: target.value })}
          />
          <TextField
            label={text.filterUntil}
            type="datetime-local"
            value={filters.until}
            onChange={({ target }) => set({ until: target.value })}
          />
        </div>
      </Filters>
      {filters.session !== '' && (
        <p className="mb-4 flex flex-wrap items-center gap-2">
          <span>
            {text.session} <span className="mono">{filters.session}</span>
          </span>
          <Button icon="close" onClick={() => set({ session: '' })}>
            {text.anySession}
          </Button>
        </p>
      )}
      <Loaded query={log}>
        {(now) => (
          <>
            <IntegrityBanner integrity={now} />
            <NotListed entries={now.not_listed} />
            {now.root && <RootCard root={now.root} />}
            <EntryList filter={filter} now={now} />
          </>
        )}
      </Loaded>
    </Page>
  )
}
