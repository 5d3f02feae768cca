import type { Upstream } from '@gatehouse/contract'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useRead } from '../../api.ts'
import { upstreamsText as text } from '../../messages/upstreams.ts'
import { useMay } from '../../session.tsx'
import { Button } from '../../ui/button.tsx'
import { type Column, DataTable } from '../../ui/data-table.tsx'
import { numberText } from '../../ui/numbers.ts'
import { Page } from '../../ui/page.tsx'
import { Empty, Loaded } from '../../ui/states.tsx'
import { Visible } from '../../ui/visible.tsx'
import { AddDialog } from './add-dialog.tsx'
import { serverText, UpstreamStatusBadge } from './status.tsx'

const columns: readonly Column<Upstream>[] = [
  {
    id: 'name',
    header: text.name,
    wide: true,
    sortBy: ({ name }) => name,
    cell: (upstream) => (
      <>
        <Link
          to="/upstreams/$name"
          params={{ name: upstream.name }}
          className="font-medium underline"
        >
          {upstream.name}
        </Link>
        <p className="mono line-clamp-2 text-ink-soft">
          <Visible text={serverText(upstream)} />
        </p>
        {upstream.reason !== null && (
          <p className="text-[0.933rem] text-ink-soft">
            <Visible text={upstream.reason} />
          </p>
        )}
      </>
    ),
  },
  {
    id: 'state',
    header: text.state,
    sortBy: ({ status }) => status,
    cell: ({ status }) => <UpstreamStatusBadge status={status} />,
  },
  {
    id: 'offered',
    header: text.offered,
    align: 'right',
    cell: ({ offered }) => numberText(offered),
  },
  {
    id: 'waiting',
    header: text.waiting,
    align: 'right',
    cell: ({ waiting }) => numberText(waiting),
  },
]

export const UpstreamsPage = () => {
  const [adding, setAdding] = useState(false)
  const mayManage = useMay('upstreams.manage')
  return (
    <Page
      title={text.title}
      intro={text.intro}
      actions={
        mayManage && (
          <Button tone="primary" icon="plus" onClick={() => setAdding(true)}>
            {text.add}
          </Button>
        )
      }
    >
      <Loaded query={useRead('listUpstreams')}>
        {({ upstreams }) =>
          upstreams.length === 0 ? (
            <Empty icon="upstreams" title={text.none}>
              {text.noneNext}
            </Empty>
          ) : (
            <DataTable
              caption={text.caption}
              rows={upstreams}
              columns={columns}
              keyOf={({ name }) => name}
              sort={{ id: 'name' }}
              isMarked={({ waiting }) => waiting > 0}
            />
          )
        }
      </Loaded>
      {adding && <AddDialog onClose={() => setAdding(false)} />}
    </Page>
  )
}
