import type { Figures } from '@gatehouse/contract'
import { useMemo } from 'react'
import { figuresText as text } from '../../messages/figures.ts'
import { NotListed } from '../../ui/not-listed.tsx'
import { numberText } from '../../ui/numbers.ts'
import { Section } from '../../ui/page.tsx'
import { Plot } from '../../ui/plot.tsx'
import type { PlotLook } from '../../ui/plot-look.ts'
import { Loaded } from '../../ui/states.tsx'
import { durationText } from '../../ui/time.tsx'
import { RangeChoice } from './range-choice.tsx'
import { useFigures } from './use-figures.ts'

type PlotName = keyof typeof text.plots

const { series } = text
const looks: Readonly<Record<PlotName, PlotLook>> = {
  calls: { kind: 'bars', unit: 'count', series: [{ label: series.calls, tone: 'accent' }] },
  refusals: {
    kind: 'steps',
    unit: 'count',
    series: [
      { label: series.denied, tone: 'bad' },
      { label: series.failed, tone: 'warn' },
    ],
  },
  duration: {
    kind: 'lines',
    unit: 'duration',
    series: [
      { label: series.p50, tone: 'accent' },
      { label: series.p95, tone: 'warn' },
    ],
  },
  wait: { kind: 'lines', unit: 'duration', series: [{ label: series.wait, tone: 'accent' }] },
}

const valuesOf = (figures: Figures): Readonly<Record<PlotName, readonly (number | null)[][]>> => ({
  calls: [figures.calls],
  refusals: [figures.denied, figures.failed],
  duration: [figures.duration_p50_ms, figures.duration_p95_ms],
  wait: [figures.approval_wait_p50_ms],
})

const sum = (values: readonly number[]): number => values.reduce((all, one) => all + one, 0)

const mostOf = (name: string, values: readonly (number | null)[], nothing: string): string => {
  const known = values.filter((value) => value !== null)
  return known.length === 0 ? nothing : text.atMost(name, durationText(Math.max(...known)))
}

const summaryOf: Readonly<Record<PlotName, (figures: Figures) => string>> = {
  calls: ({ calls }) => text.callsInAll(sum(calls)),
  refusals: ({ denied, failed }) =>
    text.refusalsInAll(numberText(sum(denied)), numberText(sum(failed))),
  duration: ({ duration_p95_ms }) => mostOf(series.p95, duration_p95_ms, text.nothingRan),
  wait: ({ approval_wait_p50_ms }) =>
    mostOf(series.wait, approval_wait_p50_ms, text.nothingDecided),
}

const names: readonly PlotName[] = ['calls', 'refusals', 'duration', 'wait']

const All = ({ figures }: { readonly figures: Figures }) => {
  const shown = useMemo(() => {
    const values = valuesOf(figures)
    const { times, to } = figures
    // The last part has only begun: its bar is drawn as wide as the others.
    const end = new Date(Date.parse(times.at(-1) ?? to) + figures.step_seconds * 1_000)
    return names.map((name) => ({
      name,
      data: { times, to: end.toISOString(), values: values[name] },
    }))
  }, [figures])
  return (
    <div className="grid grid-cols-1 gap-3 xl:grid-cols-2">
      {shown.map(({ name, data }) => (
        <Plot
          key={name}
          title={text.plots[name]}
          summary={summaryOf[name](figures)}
          look={looks[name]}
          data={data}
        />
      ))}
    </div>
  )
}

/** Calls, refusals, durations and waits over a time that is chosen. */
export const Plots = () => {
  const { range, setRange, figures } = useFigures()
  return (
    <Section title={text.title} actions={<RangeChoice range={range} onChange={setRange} />}>
      <Loaded query={figures}>
        {(read) => (
          <>
            <NotListed entries={read.not_listed} />
            <All figures={read} />
          </>
        )}
      </Loaded>
    </Section>
  )
}
