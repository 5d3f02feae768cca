import type { Figures } from '@gatehouse/contract'
import { keepPreviousData, type UseQueryResult, useQuery } from '@tanstack/react-query'
import { api } from '../../api.ts'
import { useFilters } from '../../ui/use-filters.ts'

const hourMs = 3_600_000
/** How long it is, and in which parts. */
const lengths = {
  '1h': { rangeMs: hourMs, stepSeconds: 60 },
  '24h': { rangeMs: 24 * hourMs, stepSeconds: 900 },
  '7d': { rangeMs: 7 * 24 * hourMs, stepSeconds: 7_200 },
  '30d': { rangeMs: 30 * 24 * hourMs, stepSeconds: 21_600 },
} as const

export type FigureRange = keyof typeof lengths

export const figureRanges: readonly FigureRange[] = ['1h', '24h', '7d', '30d']

/** Up to now, in parts that begin at whole minutes or hours. */
const readFigures = (range: FigureRange): Promise<Figures> => {
  const { rangeMs, stepSeconds } = lengths[range]
  const stepMs = stepSeconds * 1_000
  const fromMs = Math.ceil((Date.now() - rangeMs) / stepMs) * stepMs
  return api.getFigures({ from: new Date(fromMs).toISOString(), step: stepSeconds })
}

/** Figures of the time that the address of the page names. */
export function useFigures(): {
  readonly range: FigureRange
  readonly setRange: (range: string) => void
  readonly figures: UseQueryResult<Figures>
} {
  const [filters, change] = useFilters({ range: '24h' })
  const range = figureRanges.find((one) => one === filters.range) ?? '24h'
  const figures = useQuery({
    queryKey: ['getFigures', { range }],
    queryFn: () => readFigures(range),
    placeholderData: keepPreviousData,
  })
  return { range, setRange: (next) => change({ range: next }), figures }
}
