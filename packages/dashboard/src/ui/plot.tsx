import { lazy, Suspense, useState } from 'react'
import { figuresText as text } from '../messages/figures.ts'
import { Button } from './button.tsx'
import { cx } from './cx.ts'
import { numberText } from './numbers.ts'
import { dashOf, type PlotData, type PlotLook, plotTones } from './plot-look.ts'
import { durationText, ExactTime } from './time.tsx'

const PlotCanvas = lazy(() =>
  import('./plot-canvas.tsx').then((module) => ({ default: module.PlotCanvas })),
)

const valueText = ({ unit }: PlotLook, value: number | null | undefined): string =>
  value == null ? text.none : unit === 'count' ? numberText(value) : durationText(value)

/** Name of each line, and its value where the pointer is. */
const Legend = ({
  look,
  data,
  at,
}: {
  readonly look: PlotLook
  readonly data: PlotData
  readonly at: number | null
}) => (
  <ul className="flex flex-wrap gap-x-4 text-[0.867rem] text-ink-soft">
    {look.series.map(({ label, tone }, index) => (
      <li key={label} className="inline-flex items-center gap-1.5">
        <svg aria-hidden="true" width="18" height="8" className={plotTones[tone]}>
          <path
            d="M0 4h18"
            stroke="currentColor"
            strokeWidth={look.kind === 'bars' ? 8 : 2}
            strokeDasharray={dashOf(index).join(' ')}
          />
        </svg>
        {label}
        {at !== null && (
          <span className="figure text-ink">{valueText(look, data.values[index]?.[at])}</span>
        )}
      </li>
    ))}
    {at !== null && (
      <li className="ml-auto">
        <ExactTime at={data.times[at] ?? data.to} />
      </li>
    )}
  </ul>
)

/** The numbers of a plot, newest first; parts in which nothing was are left out. */
const PlotTable = ({
  title,
  look,
  data,
}: {
  readonly title: string
  readonly look: PlotLook
  readonly data: PlotData
}) => {
  const rows = data.times
    .map((time, at) => ({ time, values: data.values.map((list) => list[at] ?? null) }))
    .filter(({ values }) => values.some((value) => value !== null && value !== 0))
    .toReversed()
  if (rows.length === 0) return <p className="py-2 text-ink-soft">{text.noCalls}</p>
  const cell = 'border-b border-line px-1 py-1 text-right font-normal'
  return (
    // An element that scrolls takes the focus, so that a keyboard can scroll it.
    <div
      role="region"
      tabIndex={0}
      aria-label={text.tableOf(title)}
      className="relative max-h-44 overflow-y-auto -outline-offset-2"
    >
      <table className="figure w-full border-collapse">
        <caption className="sr-only">{title}</caption>
        <thead className="text-[0.867rem] text-ink-soft">
          <tr>
            <th scope="col" className={cx(cell, 'text-left')}>
              {text.time}
            </th>
            {look.series.map(({ label }) => (
              <th key={label} scope="col" className={cell}>
                {label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ time, values }) => (
            <tr key={time}>
              <th scope="row" className={cx(cell, 'text-left')}>
                <ExactTime at={time} />
              </th>
              {values.map((value, index) => (
                <td key={look.series[index]?.label} className={cell}>
                  {valueText(look, value)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

/** Numbers over time as a plot, or as the table that says the same. */
export const Plot = ({
  title,
  summary,
  look,
  data,
}: {
  readonly title: string
  readonly summary: string
  readonly look: PlotLook
  readonly data: PlotData
}) => {
  const [asTable, setAsTable] = useState(false)
  const [cursor, setCursor] = useState<number | null>(null)
  const at = cursor === null ? null : Math.min(cursor, data.times.length - 1)
  return (
    <figure className="card min-w-0 px-4 py-3">
      <figcaption className="mb-1 flex items-start gap-3">
        <div className="min-w-0 grow">
          <h3 className="font-medium">{title}</h3>
          <p className="figure text-[0.933rem] text-ink-soft">{summary}</p>
        </div>
        <Button
          tone="quiet"
          className="-mr-3 whitespace-nowrap"
          aria-label={`${asTable ? text.asPlot : text.asTable}: ${title}`}
          onClick={() => setAsTable(!asTable)}
        >
          {asTable ? text.asPlot : text.asTable}
        </Button>
      </figcaption>
      {asTable ? (
        <PlotTable title={title} look={look} data={data} />
      ) : (
        <>
          <div role="img" aria-label={`${title}: ${summary}`} className="h-[150px]">
            <Suspense>
              <PlotCanvas look={look} data={data} onCursor={setCursor} />
            </Suspense>
          </div>
          <Legend look={look} data={data} at={at} />
        </>
      )}
    </figure>
  )
}
