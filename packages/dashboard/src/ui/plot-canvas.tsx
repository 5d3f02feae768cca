import { useEffect, useRef } from 'react'
import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { numberText } from './numbers.ts'
import { dashOf, type PlotData, type PlotLook, plotTones } from './plot-look.ts'
import { durationText } from './time.tsx'

const height = 150
const axisWidth = 58

const steps = (...sizes: number[]): number[] => sizes
const counts = [1, 10, 100, 1e3, 1e4, 1e5, 1e6, 1e7].flatMap((size) =>
  steps(size, 2 * size, 5 * size),
)
const lengths = [
  ...[1, 10, 100].flatMap((size) => steps(size, 2 * size, 5 * size)),
  ...[1e3, 6e4].flatMap((size) => steps(size, 2 * size, 5 * size, 10 * size, 30 * size)),
  ...[1, 2, 6, 12, 24, 48, 120, 240, 720].map((hours) => hours * 3_600_000),
]

const clock = new Intl.DateTimeFormat('en', {
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
})
const day = new Intl.DateTimeFormat('en', { month: 'short', day: 'numeric' })
const timeText = (seconds: number): string => {
  const time = clock.format(seconds * 1_000)
  return time === '00:00' ? day.format(seconds * 1_000) : time
}

const paths = {
  bars: uPlot.paths.bars?.({ align: 1, size: [0.8, 40] }),
  steps: uPlot.paths.stepped?.({ align: 1 }),
  lines: uPlot.paths.linear?.(),
}

/** A plot draws pixels: it asks what a class is in the theme of the page each time that it draws. */
function colorsIn(box: HTMLElement): (tone: keyof typeof plotTones) => () => string {
  const probe = box.appendChild(document.createElement('span'))
  return (tone) => () => {
    probe.className = plotTones[tone]
    return getComputedStyle(probe).color
  }
}

function optionsOf(
  { kind, unit, series }: PlotLook,
  box: HTMLElement,
  onCursor: (at: number | null) => void,
): uPlot.Options {
  const color = colorsIn(box)
  const axis = { stroke: color('soft'), font: '12px sans-serif', ticks: { show: false } }
  const pathOf = paths[kind]
  return {
    width: Math.max(box.clientWidth, 100),
    height,
    legend: { show: false },
    padding: [8, 20, 0, 0],
    cursor: { y: false, drag: { x: false, y: false }, sync: { key: 'time' } },
    hooks: { setCursor: [({ cursor }) => onCursor(cursor.idx ?? null)] },
    scales: {
      y: { range: (_, __, max) => [0, Math.max(max ?? 0, unit === 'count' ? 4 : 10) * 1.05] },
    },
    axes: [
      {
        ...axis,
        space: 60,
        size: 28,
        grid: { show: false },
        values: (_, splits) => splits.map(timeText),
      },
      {
        ...axis,
        size: axisWidth,
        space: 32,
        incrs: unit === 'count' ? counts : lengths,
        grid: { stroke: color('line'), width: 1 },
        values: (_, splits) => splits.map(unit === 'count' ? numberText : durationText),
      },
    ],
    series: [
      {},
      ...series.map(
        ({ label, tone }, at): uPlot.Series => ({
          label,
          stroke: color(tone),
          width: kind === 'bars' ? 0 : 1.5,
          dash: [...dashOf(at)],
          points: { show: kind === 'lines', size: 5, fill: color(tone) },
          ...(kind === 'bars' ? { fill: color(tone) } : {}),
          ...(pathOf ? { paths: pathOf } : {}),
        }),
      ),
    ],
  }
}

/** With the end of the last part, up to which steps go on and where nothing else is drawn. */
const dataOf = ({ kind }: PlotLook, { times, to, values }: PlotData): uPlot.AlignedData => [
  [...times, to].map((time) => Date.parse(time) / 1_000),
  ...values.map((list) => [...list, kind === 'steps' ? (list.at(-1) ?? null) : null]),
]

/** Calls `tell` when the page becomes light or dark. */
function watchTheme(tell: () => void): Disposable {
  const chosen = new MutationObserver(tell)
  chosen.observe(document.documentElement, { attributeFilter: ['data-theme'] })
  const system = matchMedia('(prefers-color-scheme: dark)')
  system.addEventListener('change', tell)
  return {
    [Symbol.dispose]: () => {
      chosen.disconnect()
      system.removeEventListener('change', tell)
    },
  }
}

/** Lines or bars over time, as wide as the place they stand in. `onCursor` must stay the same. */
export const PlotCanvas = ({
  look,
  data,
  onCursor,
}: {
  readonly look: PlotLook
  readonly data: PlotData
  readonly onCursor: (at: number | null) => void
}) => {
  const box = useRef<HTMLDivElement>(null)
  const drawn = useRef<uPlot>(null)
  useEffect(() => {
    if (!box.current) return
    const host = box.current
    const plot = new uPlot(optionsOf(look, host, onCursor), undefined, host)
    drawn.current = plot
    const sizes = new ResizeObserver(() => {
      if (host.clientWidth > 0) plot.setSize({ width: host.clientWidth, height })
    })
    sizes.observe(host)
    const themes = watchTheme(() => plot.redraw(false))
    return () => {
      themes[Symbol.dispose]()
      sizes.disconnect()
      plot.destroy()
      host.replaceChildren()
    }
  }, [look, onCursor])
  useEffect(() => drawn.current?.setData(dataOf(look, data)), [look, data])
  return <div ref={box} className="min-w-0 overflow-hidden" />
}
