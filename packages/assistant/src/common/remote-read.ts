/** What all reads of Google and of mail have in common. */
export const READ = { effect: 'read', untrusted: true, readsWorkspace: false, sends: 'query', timeout: 60 } as const
