import { useMemo, useState } from 'react'
import { type AnswerOf, api, queryClient, useRead } from '../../api.ts'
import { stateText as text } from '../../messages/state.ts'
import { useMay } from '../../session.tsx'
import { Button } from '../../ui/button.tsx'
import { Json } from '../../ui/code.tsx'
import { CopyButton } from '../../ui/copy.tsx'
import { type Column, DataTable } from '../../ui/data-table.tsx'
import { ConfirmName, Dialog } from '../../ui/dialog.tsx'
import { SelectField, TextField } from '../../ui/field.tsx'
import { Filters } from '../../ui/filters.tsx'
import { Meter } from '../../ui/meter.tsx'
import { bytesText, numberText } from '../../ui/numbers.ts'
import { Facts, Page } from '../../ui/page.tsx'
import { Empty, Loaded } from '../../ui/states.tsx'
import { Time } from '../../ui/time.tsx'
import { announce } from '../../ui/toasts.tsx'
import { useFilters } from '../../ui/use-filters.ts'
import { Visible } from '../../ui/visible.tsx'

type Entry = AnswerOf<'listState'>['keys'][number]

/** The name of the area that all agents share. */
const shared = 'shared'
const keysMax = 1_000

const ValueDialog = ({
  area,
  name,
  onClose,
}: {
  readonly area: string
  readonly name: string
  readonly onClose: () => void
}) => (
  <Dialog title={name} onClose={onClose} wide>
    <Loaded query={useRead('showState', { agent: area, key: name })}>
      {({ value, version, updated_at }) => (
        <div className="grid grid-cols-1 gap-3">
          <Facts
            items={[
              [text.version, numberText(version)],
              [text.updated, <Time key="updated" at={updated_at} />],
            ]}
          />
          <Json value={value} label={text.value} tall />
          <div>
            <CopyButton text={JSON.stringify(value, null, 2)} />
          </div>
        </div>
      )}
    </Loaded>
  </Dialog>
)

const DeleteDialog = ({
  area,
  name,
  onClose,
}: {
  readonly area: string
  readonly name: string
  readonly onClose: () => void
}) => (
  <ConfirmName
    title={text.deleteTitle}
    name={name}
    submit={text.delete}
    onClose={onClose}
    onConfirm={async () => {
      await api.deleteState({ agent: area, key: name })
      await queryClient.invalidateQueries({ queryKey: ['listState'] })
      announce(text.deleted)
      onClose()
    }}
  >
    <p className="mono [overflow-wrap:anywhere]">
      <Visible text={name} />
    </p>
    <p>{text.deleteIntro}</p>
  </ConfirmName>
)

type Opened = { readonly what: 'view' | 'delete'; readonly key: string }

const columnsFor = (
  mayDelete: boolean,
  open: (opened: Opened) => void,
): readonly Column<Entry>[] => [
  {
    id: 'key',
    header: text.key,
    wide: true,
    sortBy: ({ key }) => key,
    cell: ({ key }) => (
      <span className="mono">
        <Visible text={key} />
      </span>
    ),
  },
  {
    id: 'size',
    header: text.size,
    align: 'right',
    sortBy: ({ size_bytes }) => size_bytes,
    cell: ({ size_bytes }) => bytesText(size_bytes),
  },
  {
    id: 'version',
    header: text.version,
    align: 'right',
    sortBy: ({ version }) => version,
    cell: ({ version }) => numberText(version),
  },
  {
    id: 'updated',
    header: text.updated,
    sortBy: ({ updated_at }) => updated_at,
    cell: ({ updated_at }) => <Time at={updated_at} />,
  },
  {
    id: 'actions',
    header: '',
    cell: ({ key }) => (
      <span className="flex gap-2">
        <Button aria-label={`${text.view}: ${key}`} onClick={() => open({ what: 'view', key })}>
          {text.view}
        </Button>
        {mayDelete && (
          <Button
            tone="danger"
            aria-label={`${text.delete}: ${key}`}
            onClick={() => open({ what: 'delete', key })}
          >
            {text.delete}
          </Button>
        )}
      </span>
    ),
  },
]

/** How much of its quota the chosen area takes, whatever is listed of it. */
const Used = ({
  total,
  size_bytes,
  quota_bytes,
}: Pick<AnswerOf<'listState'>, 'total' | 'size_bytes' | 'quota_bytes'>) => (
  <p className="mb-2 flex flex-wrap items-center gap-x-3 text-ink-soft">
    {text.used(text.keys(total), bytesText(size_bytes), bytesText(quota_bytes))}
    <Meter label={text.quota} used={size_bytes} max={quota_bytes} />
  </p>
)

export const StatePage = () => {
  const [{ agent, prefix }, change] = useFilters({ agent: shared, prefix: '' })
  const [opened, setOpened] = useState<Opened | null>(null)
  const mayDelete = useMay('state.manage')
  const names = useRead('listAgents').data?.agents.map(({ name }) => name) ?? []
  const columns = useMemo(() => columnsFor(mayDelete, setOpened), [mayDelete])
  const list = useRead('listState', { agent, limit: keysMax, ...(prefix === '' ? {} : { prefix }) })
  const close = () => setOpened(null)
  return (
    <Page title={text.title} intro={text.intro}>
      <Filters>
        <SelectField
          label={text.area}
          value={agent}
          onChange={({ target }) => change({ agent: target.value })}
          options={[
            { value: shared, text: text.shared },
            ...[...new Set([...names, ...(agent === shared ? [] : [agent])])].map((name) => ({
              value: name,
              text: name,
            })),
          ]}
        />
        <TextField
          label={text.prefix}
          type="search"
          value={prefix}
          onChange={({ target }) => change({ prefix: target.value })}
        />
      </Filters>
      <Loaded query={list}>
        {({ keys, ...area }) => (
          <>
            <Used {...area} />
            {keys.length === 0 ? (
              <Empty icon="state" title={text.none}>
                {text.noneNext}
              </Empty>
            ) : (
              <DataTable
                caption={text.caption}
                rows={keys}
                columns={columns}
                keyOf={({ key }) => key}
              />
            )}
            {keys.length >= keysMax && <p className="mt-2 text-ink-soft">{text.cut(keysMax)}</p>}
          </>
        )}
      </Loaded>
      {opened?.what === 'view' && <ValueDialog area={agent} name={opened.key} onClose={close} />}
      {opened?.what === 'delete' && <DeleteDialog area={agent} name={opened.key} onClose={close} />}
    </Page>
  )
}
