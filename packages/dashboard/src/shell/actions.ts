import { shellText } from '../messages/shell.ts'
import { announce } from '../ui/toasts.tsx'
import type { PaletteAction } from './palette.tsx'
import { theme, times } from './preferences.ts'

type Times = ReturnType<typeof times.get>

const showTimes = (form: Times): void => {
  times.set(form)
  announce(shellText.times[form])
}

const timesAfter = { relative: 'local', local: 'utc', utc: 'relative' } as const

/** A mouse over a time tells it exactly; this does without one. */
export const nextTimes = (): void => showTimes(timesAfter[times.get()])

/** Actions that can be taken from every page; `pausing` is null for those who may not. */
export const actionsOf = (
  pausing: { readonly askPause: () => void; readonly askResume: () => void } | null,
  onHelp: () => void,
): readonly PaletteAction[] => [
  ...(pausing
    ? ([
        { text: shellText.pauseAll, icon: 'pause', run: pausing.askPause },
        { text: shellText.resumeAll, icon: 'play', run: pausing.askResume },
      ] as const)
    : []),
  { text: shellText.themeDark, icon: 'moon', run: () => theme.set('dark') },
  { text: shellText.themeLight, icon: 'sun', run: () => theme.set('light') },
  ...(Object.entries(shellText.times) as [Times, string][]).map(
    ([form, text]): PaletteAction => ({ text, icon: 'clock', run: () => showTimes(form) }),
  ),
  { text: shellText.shortcuts, icon: 'keyboard', run: onHelp },
  { text: shellText.documents, icon: 'info', run: () => location.assign('/docs/') },
]
