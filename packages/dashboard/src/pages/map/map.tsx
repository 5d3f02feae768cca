import { Link } from '@tanstack/react-router'
import { useMemo } from 'react'
import { useRead } from '../../api.ts'
import { mapText as text } from '../../messages/map.ts'
import { type Column, DataTable } from '../../ui/data-table.tsx'
import { NotListed } from '../../ui/not-listed.tsx'
import { numberText } from '../../ui/numbers.ts'
import { Page } from '../../ui/page.tsx'
import { Empty, Loaded } from '../../ui/states.tsx'
import { Visible } from '../../ui/visible.tsx'
import { RangeChoice } from '../overview/range-choice.tsx'
import { useFigures } from '../overview/use-figures.ts'
import { type Edge, houseMapOf, targetOf } from './house-map.ts'
import { Picture } from './picture.tsx'

/** As many as the service gives. */
const edgesMax = 200

const countOf = (key: 'calls' | 'denied' | 'held', header: string): Column<Edge> => ({
  id: key,
  header,
  align: 'right',
  sortBy: (edge) => edge[key],
  cell: (edge) => <span className="figure">{numberText(edge[key])}</span>,
})

const columnsOf = (upstreams: ReadonlySet<string>): readonly Column<Edge>[] => [
  {
    id: 'agent',
    header: text.agent,
    sortBy: ({ agent }) => agent,
    cell: ({ agent }) => (
      <Link to="/agents/$name" params={{ name: agent }} className="whitespace-nowrap underline">
        <Visible text={agent} />
      </Link>
    ),
  },
  {
    id: 'group',
    header: text.group,
    sortBy: ({ group }) => group,
    cell: ({ group }) => <Visible text={group} />,
  },
  {
    id: 'target',
    header: text.target,
    wide: true,
    sortBy: (edge) => targetOf(edge, upstreams)?.name ?? '',
    cell: (edge) => {
      const target = targetOf(edge, upstreams)
      return target ? (
        <Visible text={`${target.name} (${text.kinds[target.kind]})`} />
      ) : (
        text.noTarget
      )
    },
  },
  countOf('calls', text.callsHeader),
  countOf('denied', text.deniedHeader),
  countOf('held', text.heldHeader),
]

const keyOf = ({ agent, group, service }: Edge): string => JSON.stringify([agent, group, service])

const Shown = ({
  edges,
  upstreams,
}: {
  readonly edges: readonly Edge[]
  readonly upstreams: ReadonlySet<string>
}) => {
  const map = useMemo(() => houseMapOf(edges, upstreams), [edges, upstreams])
  const columns = useMemo(() => columnsOf(upstreams), [upstreams])
  return (
    <div className="grid grid-cols-1 gap-4">
      <div className="max-sm:order-last">
        <Picture map={map} />
      </div>
      <section id="map-table" aria-label={text.table}>
        <DataTable
          caption={text.table}
          rows={edges}
          columns={columns}
          keyOf={keyOf}
          sort={{ id: 'calls', desc: true }}
        />
        {edges.length >= edgesMax && <p className="mt-2 text-ink-soft">{text.most(edgesMax)}</p>}
      </section>
    </div>
  )
}

/** Page of which agents call what, and what is behind it. */
export const MapPage = () => {
  const { range, setRange, figures } = useFigures()
  const servers = useRead('listUpstreams').data?.upstreams
  const upstreams = useMemo(() => new Set(servers?.map(({ name }) => name)), [servers])
  return (
    <Page
      title={text.title}
      intro={text.intro}
      actions={<RangeChoice range={range} onChange={setRange} />}
    >
      <Loaded query={figures}>
        {({ edges, not_listed }) => (
          <>
            <NotListed entries={not_listed} />
            {edges.length === 0 ? (
              <Empty icon="map" title={text.none}>
                {text.noneNext}
              </Empty>
            ) : (
              <Shown edges={edges} upstreams={upstreams} />
            )}
          </>
        )}
      </Loaded>
    </Page>
  )
}
