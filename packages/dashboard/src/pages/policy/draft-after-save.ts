type Kept = { readonly text: string; readonly version: string }

/** The draft of a file once one of it was saved; null where nothing was typed meanwhile. */
export const draftAfterSave = <Draft extends Kept>(
  now: Draft | undefined,
  saved: Pick<Kept, 'text'>,
  version: string,
): Draft | null => (now === undefined || now.text === saved.text ? null : { ...now, version })
