import { shellText } from '../messages/shell.ts'
import { Icon } from '../ui/icon.tsx'

/** The documents are pages of their own, outside of this application. */
export const DocumentsLink = () => (
  <a
    href="/docs/"
    className="flex min-h-11 items-center gap-2.5 rounded-lg px-3 text-ink-soft no-underline hover:bg-sunken hover:text-ink lg:min-h-9"
  >
    <Icon name="info" />
    {shellText.documents}
  </a>
)
