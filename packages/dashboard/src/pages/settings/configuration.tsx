import type { Setting } from '@gatehouse/contract'
import { useRead } from '../../api.ts'
import { settingsText as text } from '../../messages/settings.ts'
import { type Column, DataTable } from '../../ui/data-table.tsx'
import { Checkbox, TextField } from '../../ui/field.tsx'
import { Filters, filtersSet } from '../../ui/filters.tsx'
import { Facts } from '../../ui/page.tsx'
import { Loaded } from '../../ui/states.tsx'
import { useFilters } from '../../ui/use-filters.ts'
import { Visible } from '../../ui/visible.tsx'
import { BackupButton } from './backup.tsx'

const valueText = ({ secret, set, value }: Setting): string => {
  if (secret) return set ? text.secretSet : text.secretUnset
  if (value === null || value === '') return '–'
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

const columns: readonly Column<Setting>[] = [
  {
    id: 'key',
    header: text.key,
    wide: true,
    sortBy: ({ key }) => key,
    cell: ({ key, purpose }) => (
      <>
        <span className="mono">{key}</span>
        <p className="text-[0.933rem] text-ink-soft">{purpose}</p>
      </>
    ),
  },
  {
    id: 'value',
    header: text.value,
    cell: (setting) => (
      <span className="mono">
        <Visible text={valueText(setting)} />
      </span>
    ),
  },
  {
    id: 'origin',
    header: text.origin,
    sortBy: ({ origin }) => origin,
    cell: ({ origin, source }) => (
      <>
        {text.origins[origin]}
        {source !== null && <p className="mono text-ink-soft">{source}</p>}
      </>
    ),
  },
]

const none = { words: '', changed: '' }

export const ConfigurationView = () => {
  const [filters, change] = useFilters(none)
  const { words, changed } = filters
  return (
    <Loaded query={useRead('getConfiguration')}>
      {({ settings, file, version }) => {
        const shown = settings.filter(
          ({ key, purpose, set }) =>
            (changed === '' || set) &&
            `${key} ${purpose}`.toLowerCase().includes(words.toLowerCase()),
        )
        return (
          <>
            <div className="card mb-4 p-4">
              <Facts
                items={[
                  [text.version, version],
                  [text.file, file === null ? text.noFile : <span className="mono">{file}</span>],
                ]}
              />
              <p className="mt-2 text-ink-soft">{text.readAtStart}</p>
              <BackupButton />
            </div>
            <Filters set={filtersSet(filters, none)}>
              <TextField
                label={text.filter}
                type="search"
                value={words}
                onChange={({ target }) => change({ words: target.value })}
              />
              <Checkbox
                label={text.onlyChanged}
                checked={changed !== ''}
                onChange={({ target }) => change({ changed: target.checked ? 'yes' : '' })}
              />
            </Filters>
            <DataTable
              caption={text.tabs.configuration}
              rows={shown}
              columns={columns}
              keyOf={({ key }) => key}
              sort={{ id: 'key' }}
            />
          </>
        )
      }}
    </Loaded>
  )
}
