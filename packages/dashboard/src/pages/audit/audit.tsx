import type { AuditEntry } from '@gatehouse/contract'
import { describeEntry } from '@gatehouse/contract/describe-call'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { read } from '../../api.ts'
import { auditText as text } from '../../messages/audit.ts'
import { common } from '../../messages/common.ts'
import { type Column, DataTable } from '../../ui/data-table.tsx'
import { SelectField, TextField } from '../../ui/field.tsx'
import { AgentFilter, Filters } from '../../ui/filters.tsx'
import { Page } from '../../ui/page.tsx'
import { Pager } from '../../ui/pager.tsx'
import { Empty, Loaded } from '../../ui/states.tsx'
import { ExactTime } from '../../ui/time.tsx'
import { useFilters } from '../../ui/use-filters.ts'
import { Visible } from '../../ui/visible.tsx'
import { EntryResult } from './entry-result.tsx'
import { IntegrityBanner } from './integrity.tsx'

const limit = 100
const results = ['success', 'error', 'denied', 'pending', 'rejected'] as const

const columns: readonly Column<AuditEntry>[] = [
  { id: 'time', header: text.time, cell: ({ timestamp }) => <ExactTime at={timestamp} /> },
  { id: 'agent', header: common.agent, cell: ({ agent }) => agent || '–' },
  {
    id: 'entry',
    header: text.entry,
    wide: true,
    cell: (entry) => (
      <>
        <Link to="/audit/$id" params={{ id: entry.id }} className="font-medium underline">
          {entry.capability}
        </Link>
        <p className="mono line-clamp-2 text-ink-soft">
          <Visible text={describeEntry(entry)} />
        </p>
      </>
    ),
  },
  { id: 'result', header: text.filterResult, cell: (entry) => <EntryResult entry={entry} /> },
  {
    id: 'actor',
    header: text.actor,
    cell: ({ actor }) => <Visible text={common.person(actor).replace(/^agent:/, '')} />,
  },
]

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
  since: '',
  until: '',
  session: '',
  offset: '0',
}

/** A local time of a field, as the API takes it. */
const instant = (local: string): { readonly value?: string } => {
  const at = Date.parse(local)
  return Number.isNaN(at) ? {} : { value: new Date(at).toISOString() }
}

const queryOf = (filters: typeof none) => {
  const { value: since } = instant(filters.since)
  const { value: until } = instant(filters.until)
  const result = results.find((one) => one === filters.result)
  return {
    limit,
    offset: Number(filters.offset),
    ...(filters.agent === '' ? {} : { agent: filters.agent }),
    ...(filters.capability === '' ? {} : { capability: filters.capability }),
    ...(filters.session === '' ? {} : { session: filters.session }),
    ...(result ? { result } : {}),
    ...(since === undefined ? {} : { since }),
    ...(until === undefined ? {} : { until }),
  }
}

export const AuditPage = () => {
  const [filters, change] = useFilters(none)
  const set = (next: Partial<typeof none>) => change({ offset: '0', ...next })
  const log = useQuery({
    ...read('queryAudit', queryOf(filters)),
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
      <Filters>
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
      </Filters>
      <Loaded query={log}>
        {({ entries, total, ...integrity }) => (
          <>
            <IntegrityBanner integrity={integrity} />
            {entries.length === 0 ? (
              <Empty icon="audit" title={text.noEntries}>
                {text.noEntriesNext}
              </Empty>
            ) : (
              <DataTable
                caption={text.caption}
                rows={entries}
                columns={columns}
                keyOf={({ id }) => id}
              />
            )}
            <Pager
              offset={Number(filters.offset)}
              limit={limit}
              total={total}
              onGo={(offset) => change({ offset: String(offset) })}
            />
          </>
        )}
      </Loaded>
    </Page>
  )
}
