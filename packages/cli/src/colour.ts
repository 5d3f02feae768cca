import type { Output } from './io.ts'

/** Whether an output is coloured: a terminal that can show colours, and nobody who refused them. */
export const isColoured = (
  { isTTY }: Pick<Output, 'isTTY'>,
  env: Readonly<Record<string, string | undefined>>,
  refused: boolean,
): boolean => isTTY && !refused && !env.NO_COLOR && env.TERM !== 'dumb'

const paint =
  (code: number) =>
  (text: string, coloured: boolean): string =>
    coloured && text !== '' ? `\u001b[${code}m${text}\u001b[0m` : text

export const bold = paint(1)
export const red = paint(31)
export const green = paint(32)
const yellow = paint(33)

const painters = { good: green, caution: yellow, bad: red } as const

const words: Readonly<Record<keyof typeof painters, string>> = {
  good: 'active approved autonomous completed connected executed healthy installed ok ready resolved running succeeded success syncing',
  caution:
    'acknowledged approval_required asked cancelled degraded expired interrupted locked open paused pending unfinished waiting warn warning',
  bad: 'blocked broken critical dead denied error fail failed refused rejected revoked unavailable unhealthy',
}

const toneOf: ReadonlyMap<string, keyof typeof painters> = new Map(
  (['good', 'caution', 'bad'] as const).flatMap((tone) =>
    words[tone].split(' ').map((word) => [word, tone] as const),
  ),
)

/** The words of a status in their colours. The word itself says the same without any. */
export const paintStatus = (text: string, coloured: boolean): string =>
  coloured
    ? text.replace(/(?<=^|, )[a-z_]+/gi, (word) => {
        const tone = toneOf.get(word.toLowerCase())
        return tone ? painters[tone](word, true) : word
      })
    : text

const statusNames = new Set(
  'decision engine execution health policy result severity state status'.split(' '),
)

/** Whether what stands under a title is a status, and not text of an agent that reads like one. */
export const isStatusName = (title: string): boolean => statusNames.has(title.toLowerCase())
