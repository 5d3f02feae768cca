import { Link } from '@tanstack/react-router'
import { type ComponentProps, type CSSProperties, useMemo, useState } from 'react'
import { mapText as text } from '../../messages/map.ts'
import { cx } from '../../ui/cx.ts'
import { Visible } from '../../ui/visible.tsx'
import type { HouseMap } from './house-map.ts'
import {
  columnLeft,
  columnWidth,
  layoutOf,
  nodeHeight,
  type PlacedLine,
  type PlacedNode,
} from './layout.ts'
import { Marks, numbersText } from './numbers.tsx'

/** The id of a node or a line that a person looks at. */
type Chosen = string | null

const nameOf = ({ kind, name, gathered }: PlacedNode): string =>
  kind === 'more' ? text.more(gathered) : name

const NodeLink = ({
  node,
  children,
  ...rest
}: Pick<
  ComponentProps<'a'>,
  | 'className'
  | 'aria-label'
  | 'children'
  | 'onPointerEnter'
  | 'onPointerLeave'
  | 'onFocus'
  | 'onBlur'
> & { readonly node: PlacedNode; readonly 'data-node': string }) => {
  const { kind, name } = node
  switch (kind) {
    case 'agent':
      return (
        <Link to="/agents/$name" params={{ name }} {...rest}>
          {children}
        </Link>
      )
    case 'group':
      return (
        <Link to="/audit" search={{ capability: `${name}.*` }} {...rest}>
          {children}
        </Link>
      )
    case 'service':
      return (
        <Link to="/services" {...rest}>
          {children}
        </Link>
      )
    case 'upstream':
      return (
        <Link to="/upstreams/$name" params={{ name }} {...rest}>
          {children}
        </Link>
      )
    case 'more':
      return (
        <a href="#map-table" {...rest}>
          {children}
        </a>
      )
  }
}

const Node = ({
  node,
  near,
  onChoose,
}: {
  readonly node: PlacedNode
  /** Whether it is at an end of a line that a person looks at. */
  readonly near: boolean
  readonly onChoose: (chosen: Chosen) => void
}) => {
  const place: CSSProperties = {
    top: node.top,
    left: `${columnLeft[node.column]}%`,
    width: `${columnWidth}%`,
    height: nodeHeight,
  }
  const kind = node.kind === 'service' || node.kind === 'upstream' ? text.kinds[node.kind] : ''
  return (
    <li className="absolute" style={place}>
      <NodeLink
        node={node}
        data-node={node.id}
        onPointerEnter={() => onChoose(node.id)}
        onPointerLeave={() => onChoose(null)}
        onFocus={() => onChoose(node.id)}
        onBlur={() => onChoose(null)}
        aria-label={[nameOf(node), kind, numbersText(node)].filter(Boolean).join(', ')}
        className={cx(
          'block h-full rounded-lg border bg-raised px-2.5 py-1 no-underline hover:bg-sunken',
          near ? 'border-accent shadow-[0_0_0_1px_var(--color-accent)]' : 'border-line-strong',
        )}
      >
        <span className="block truncate font-medium">
          <Visible text={nameOf(node)} />
        </span>
        <span className="figure flex items-center gap-1.5 truncate text-[0.867rem] text-ink-soft">
          <span className="truncate">{text.calls(node.calls)}</span>
          <Marks {...node} />
        </span>
      </NodeLink>
    </li>
  )
}

const toneOf = ({ denied, held }: PlacedLine): string =>
  denied > 0 ? 'text-bad' : held > 0 ? 'text-warn' : 'text-accent'

const Lines = ({
  lines,
  height,
  isLit,
  onChoose,
}: {
  readonly lines: readonly PlacedLine[]
  readonly height: number
  readonly isLit: (line: PlacedLine) => boolean
  readonly onChoose: (chosen: Chosen) => void
}) => (
  <svg
    aria-hidden="true"
    className="absolute inset-0 size-full"
    viewBox={`0 0 100 ${height}`}
    preserveAspectRatio="none"
    fill="none"
  >
    {lines.map((line) => (
      <g
        key={line.id}
        className={cx(
          toneOf(line),
          'transition-opacity',
          isLit(line) ? 'opacity-70' : 'opacity-15',
        )}
        onPointerEnter={() => onChoose(line.id)}
        onPointerLeave={() => onChoose(null)}
      >
        <path
          d={line.path}
          stroke="currentColor"
          strokeWidth={line.width}
          strokeDasharray={line.denied > 0 ? '9 4' : undefined}
          vectorEffect="non-scaling-stroke"
        />
        <path
          d={line.path}
          stroke="transparent"
          strokeWidth={16}
          vectorEffect="non-scaling-stroke"
        />
      </g>
    ))}
  </svg>
)

/** Numbers of the lines that a person looks at; until then how to read the picture. */
const Readout = ({
  lines,
  names,
}: {
  readonly lines: readonly PlacedLine[]
  readonly names: ReadonlyMap<string, string>
}) => (
  <div className="mt-3 min-h-16 text-[0.933rem] text-ink-soft">
    {lines.length === 0 ? (
      <p className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <span>{text.legend}</span>
        <span className="inline-flex items-center gap-1">
          <Marks calls={0} denied={1} held={0} /> {text.deniedMark}
        </span>
        <span className="inline-flex items-center gap-1">
          <Marks calls={0} denied={0} held={1} /> {text.heldMark}
        </span>
      </p>
    ) : (
      <ul className="grid gap-x-6 sm:grid-cols-2" aria-hidden="true">
        {lines.map((line) => (
          <li key={line.id} className="figure [overflow-wrap:anywhere]">
            <span className="text-ink">
              <Visible text={text.arrow(names.get(line.from) ?? '', names.get(line.to) ?? '')} />
            </span>
            {`: ${numbersText(line)}`}
          </li>
        ))}
      </ul>
    )}
  </div>
)

const columnNames = ['agents', 'groups', 'targets'] as const

/** Agents, capabilities and what is behind them, with their calls as lines. */
export const Picture = ({ map }: { readonly map: HouseMap }) => {
  const layout = useMemo(() => layoutOf(map), [map])
  const [chosen, setChosen] = useState<Chosen>(null)
  const isOf = ({ id, from, to }: PlacedLine) => chosen === id || chosen === from || chosen === to
  const lit = layout.lines.filter(isOf)
  const near = new Set(lit.flatMap(({ from, to }) => [from, to]))
  const names = useMemo(
    () => new Map(layout.nodes.map((node) => [node.id, nameOf(node)])),
    [layout],
  )
  return (
    // An element that scrolls takes the focus, so that a keyboard can scroll it.
    <div
      role="region"
      tabIndex={0}
      aria-label={text.picture}
      className="card overflow-x-auto p-4 -outline-offset-2"
    >
      <div className="min-w-[40rem]">
        <div className="relative mb-2 h-6 text-[0.867rem] font-medium text-ink-soft">
          {columnNames.map((name) => (
            <span
              key={name}
              className="absolute truncate"
              style={{ left: `${columnLeft[name]}%`, width: `${columnWidth}%` }}
            >
              {text.columns[name]}
            </span>
          ))}
        </div>
        <div className="relative" style={{ height: layout.height }}>
          <Lines
            lines={layout.lines}
            height={layout.height}
            isLit={(line) => chosen === null || isOf(line)}
            onChoose={setChosen}
          />
          {layout.lines
            .filter((line) => line.denied + line.held > 0 && (chosen === null || isOf(line)))
            .map((line) => (
              <span
                key={line.id}
                aria-hidden="true"
                className="pointer-events-none absolute flex -translate-x-1/2 -translate-y-1/2 gap-0.5 rounded-full border border-line-strong bg-raised p-0.5"
                style={{ left: `${line.mark.left}%`, top: line.mark.top }}
              >
                <Marks {...line} />
              </span>
            ))}
          <ul>
            {layout.nodes.map((node) => (
              <Node key={node.id} node={node} near={near.has(node.id)} onChoose={setChosen} />
            ))}
          </ul>
          {map.columns.targets.length === 0 && (
            <p
              className="absolute top-0 text-ink-soft"
              style={{ left: `${columnLeft.targets}%`, width: `${columnWidth}%` }}
            >
              {text.noTargets}
            </p>
          )}
        </div>
        <Readout lines={lit} names={names} />
      </div>
    </div>
  )
}
