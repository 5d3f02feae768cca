import type { Secret, VaultStatus } from '@gatehouse/contract'
import { type ReactNode, useMemo, useState } from 'react'
import { api, queryClient, useRead } from '../../api.ts'
import { common } from '../../messages/common.ts'
import { secretsText as text } from '../../messages/secrets.ts'
import { useMay } from '../../session.tsx'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { type Column, DataTable } from '../../ui/data-table.tsx'
import { Menu } from '../../ui/menu.tsx'
import { Failure, Notice } from '../../ui/notice.tsx'
import { numberText } from '../../ui/numbers.ts'
import { Page } from '../../ui/page.tsx'
import { Empty, Loaded } from '../../ui/states.tsx'
import { Time } from '../../ui/time.tsx'
import { useAct } from '../../ui/use-act.ts'
import { Visible } from '../../ui/visible.tsx'
import {
  AddDialog,
  CheckDialog,
  DeleteDialog,
  EditDialog,
  RotateDialog,
  UnlockDialog,
} from './dialogs.tsx'

const Scope = ({ secret: { capabilities, hosts, agents, kind } }: { readonly secret: Secret }) => {
  if (kind === 'service') return <span className="text-ink-soft">{text.service}</span>
  const who = agents.includes('*') ? text.anyone : agents.join(', ') || text.nobody
  return (
    <span className="text-[0.933rem]">
      <Visible text={who} />
      <br />
      <span className="mono text-ink-soft">
        <Visible text={[...capabilities, ...hosts].join(' · ') || '–'} />
      </span>
    </span>
  )
}

const LastUse = ({ secret: { last_use, uses } }: { readonly secret: Secret }) =>
  last_use === null ? (
    common.never
  ) : (
    <>
      <Time at={last_use.at} />
      <p className="text-[0.933rem] text-ink-soft">
        <Visible
          text={[last_use.agent ?? '', last_use.host ?? last_use.capability]
            .filter(Boolean)
            .join(' · ')}
        />{' '}
        · {text.uses(numberText(uses))}
      </p>
    </>
  )

type Opened = 'rotate' | 'edit' | 'delete' | 'check'

const Actions = ({ secret }: { readonly secret: Secret }) => {
  const [open, setOpen] = useState<Opened | null>(null)
  const close = () => setOpen(null)
  const dialogs: Readonly<Record<Opened, ReactNode>> = {
    rotate: <RotateDialog secret={secret} onClose={close} />,
    edit: <EditDialog secret={secret} onClose={close} />,
    delete: <DeleteDialog secret={secret} onClose={close} />,
    check: <CheckDialog secret={secret} onClose={close} />,
  }
  return (
    <>
      <Menu
        trigger={
          <Button icon="more" aria-label={`${common.actions}: ${secret.name}`}>
            <span className="sm:sr-only">{common.actions}</span>
          </Button>
        }
        items={[
          { text: text.check, onSelect: () => setOpen('check') },
          { text: text.edit, onSelect: () => setOpen('edit') },
          { text: text.rotate, onSelect: () => setOpen('rotate') },
          { text: text.delete, danger: true, onSelect: () => setOpen('delete') },
        ]}
      />
      {open !== null && dialogs[open]}
    </>
  )
}

const columns: readonly Column<Secret>[] = [
  {
    id: 'name',
    header: text.name,
    sortBy: ({ name }) => name,
    cell: ({ name, description, rotation_request }) => (
      <>
        <span className="font-medium">{name}</span>
        {description !== '' && (
          <p className="text-[0.933rem] text-ink-soft">
            <Visible text={description} />
          </p>
        )}
        {rotation_request && (
          <p className="text-[0.933rem]">
            <Badge tone="warn">{text.asked(rotation_request.agent)}</Badge>{' '}
            <Visible text={rotation_request.reason} />
          </p>
        )}
      </>
    ),
  },
  { id: 'scope', header: text.scope, wide: true, cell: (secret) => <Scope secret={secret} /> },
  {
    id: 'used',
    header: text.lastUse,
    sortBy: ({ last_use }) => last_use?.at ?? '',
    cell: (secret) => <LastUse secret={secret} />,
  },
  {
    id: 'rotated',
    header: text.rotated,
    sortBy: ({ rotated_at }) => rotated_at,
    cell: ({ rotated_at }) => <Time at={rotated_at} />,
  },
  { id: 'actions', header: '', cell: (secret) => <Actions secret={secret} /> },
]

/** Whether the vault is open, and what is wrong with it where something is. */
const Vault = ({ vault }: { readonly vault: VaultStatus }) => {
  const act = useAct()
  const [unlocking, setUnlocking] = useState(false)
  const lock = () =>
    void act.run(async () => {
      await api.lockVault()
      await queryClient.invalidateQueries()
    })
  const tone =
    vault.status === 'degraded' || vault.integrity === 'failed'
      ? 'bad'
      : vault.locked
        ? 'warn'
        : 'good'
  return (
    <div className="mb-4 grid gap-2">
      <Notice tone={tone} role="status">
        <div className="flex flex-wrap items-center gap-3">
          <div className="min-w-0 grow">
            <p className="font-medium">{vault.locked ? text.locked : text.unlocked}</p>
            {vault.reason !== null && <p>{vault.reason}</p>}
            {vault.remedy !== null && <p>{vault.remedy}</p>}
            {vault.tampered.length > 0 && (
              <p>
                {text.tampered} <Visible text={vault.tampered.join(', ')} />
              </p>
            )}
          </div>
          {vault.locked ? (
            <Button tone="primary" onClick={() => setUnlocking(true)}>
              {text.unlock}
            </Button>
          ) : (
            <Button busy={act.busy} onClick={lock}>
              {text.lock}
            </Button>
          )}
        </div>
      </Notice>
      <Failure error={act.error} />
      {unlocking && <UnlockDialog onClose={() => setUnlocking(false)} />}
    </div>
  )
}

const Secrets = () => {
  const [adding, setAdding] = useState(false)
  const rows = useMemo(() => columns, [])
  return (
    <Page
      title={text.title}
      intro={text.intro}
      actions={
        <Button tone="primary" icon="plus" onClick={() => setAdding(true)}>
          {text.add}
        </Button>
      }
    >
      <Loaded query={useRead('showVault')}>{(vault) => <Vault vault={vault} />}</Loaded>
      <Loaded query={useRead('listSecrets')}>
        {({ secrets }) =>
          secrets.length === 0 ? (
            <Empty icon="secrets" title={text.none}>
              {text.noneNext}
            </Empty>
          ) : (
            <DataTable
              caption={text.caption}
              rows={secrets}
              columns={rows}
              keyOf={({ name }) => name}
              sort={{ id: 'name' }}
            />
          )
        }
      </Loaded>
      {adding && <AddDialog onClose={() => setAdding(false)} />}
    </Page>
  )
}

export const SecretsPage = () =>
  useMay('vault.manage') ? (
    <Secrets />
  ) : (
    <Page title={text.title}>
      <Empty icon="secrets" title={text.onlyOperators}>
        {text.onlyOperatorsNext}
      </Empty>
    </Page>
  )
