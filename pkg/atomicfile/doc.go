// Package atomicfile replaces, creates, appends to and reads small files such
// that a reader, or the program after a crash, meets the old content or the
// new one and never half of either.
//
// What each call promises when it returned nil:
//
//	Write         the new content is in place and survives a power loss
//	WriteRelaxed  the new content is in place; a power loss may bring back the
//	              old one, or on some file systems leave an empty file
//	Create        like Write, and the path was free before: of any number of
//	              callers one wins, the others get fs.ErrExist
//	Append        the line is in the file, in one piece; not made durable
//	Remove        the name is gone and stays gone
//	Rename        the new name is in place, the old one gone, durably
//	MkdirAll      every folder on the way is there and stays there
//
// When it returned an error, the old content is in place and no temporary file
// is left. There is one exception, and it cannot be had otherwise: when the
// last step, the fsync of the folder, fails, the change is visible and only its
// survival of a power loss is in doubt.
//
// A process killed half-way may leave a temporary file called
// .<base>.tmp-<random>; IsTemporary knows that name and Sweep removes such
// files once they are old enough to belong to nobody.
//
// Links: folders on the way to a file may be symbolic links, the file itself
// may not. Read and Append refuse a link (ErrNotRegular); Write and Create put
// a file of their own in a link's place or refuse it, and never write through.
//
// Errors keep the system's error visible to errors.Is (syscall.ENOSPC,
// fs.ErrNotExist, ...), name the file that was asked for and not the temporary
// one, and say once what to do about it where there is something to do.
//
// The package knows nothing about what is in the files, takes no locks and
// must not retry: that is for the caller to decide.
package atomicfile
