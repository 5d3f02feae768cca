import type { LoginSession } from '@gatehouse/contract'
import { useMemo } from 'react'
import { api, queryClient, useRead } from '../../api.ts'
import { settingsText as text } from '../../messages/settings.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { type Column, DataTable } from '../../ui/data-table.tsx'
import { Failure } from '../../ui/notice.tsx'
import { Loaded } from '../../ui/states.tsx'
import { Time } from '../../ui/time.tsx'
import { announce } from '../../ui/toasts.tsx'
import { useAct } from '../../ui/use-act.ts'

const facts: readonly Column<LoginSession>[] = [
  {
    id: 'name',
    header: text.name,
    wide: true,
    cell: ({ name, current }) => (
      <>
        {name} {current && <Badge tone="accent">{text.thisLogin}</Badge>}
      </>
    ),
  },
  { id: 'address', header: text.address, cell: ({ address }) => address ?? '–' },
  { id: 'began', header: text.began, cell: ({ created_at }) => <Time at={created_at} /> },
  {
    id: 'used',
    header: text.lastUsed,
    cell: ({ last_used_at }) => (last_used_at === null ? '–' : <Time at={last_used_at} />),
  },
  { id: 'ends', header: text.ends, cell: ({ expires_at }) => <Time at={expires_at} /> },
]

/** Browsers that are logged in, and the way to end one. */
export const Logins = () => {
  const act = useAct()
  const { run, busy } = act
  const columns = useMemo(
    () => [
      ...facts,
      {
        id: 'end',
        header: '',
        cell: ({ id, name }: LoginSession) => (
          <Button
            tone="danger"
            busy={busy}
            aria-label={`${text.end}: ${name}`}
            onClick={() =>
              void run(async () => {
                await api.endLogin({ id })
                await queryClient.invalidateQueries({ queryKey: ['listLogins'] })
                announce(text.loginEnded)
              })
            }
          >
            {text.end}
          </Button>
        ),
      },
    ],
    [run, busy],
  )
  return (
    <>
      <p className="mb-3 max-w-prose text-ink-soft">{text.loginsIntro}</p>
      <Failure error={act.error} />
      <Loaded query={useRead('listLogins')}>
        {({ logins }) => (
          <DataTable
            caption={text.tabs.logins}
            rows={logins}
            columns={columns}
            keyOf={({ id }) => id}
          />
        )}
      </Loaded>
    </>
  )
}
