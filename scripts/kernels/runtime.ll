; What compiled kernels need of a system: blocks of memory with a count of references, and to move and set bytes.
; All of it comes from the process that loads the library (see tbp_use), so the library itself stands on nothing.
; A block begins with numba's header: count, destructor (none), its argument, address of the data, size.

@allocate = internal global ptr null
@release = internal global ptr null
@move = internal global ptr null
@fill = internal global ptr null
@advise = internal global ptr null

define void @tbp_use(ptr %allocate, ptr %release, ptr %move, ptr %fill) {
  store ptr %allocate, ptr @allocate
  store ptr %release, ptr @release
  store ptr %move, ptr @move
  store ptr %fill, ptr @fill
  ret void
}

; What tells the system how memory will be used, as Linux's madvise does. Nothing needs it.
define void @tbp_advise_with(ptr %advise) {
  store ptr %advise, ptr @advise
  ret void
}

; From 4 MB on, ask for huge pages, as numpy does for its arrays: pages of 4 KB take as long as the work on them.
define internal void @ask_for_huge_pages(ptr %data, i64 %size) {
  %function = load ptr, ptr @advise
  %unknown = icmp eq ptr %function, null
  %small = icmp ult i64 %size, 4194304
  %none = or i1 %unknown, %small
  br i1 %none, label %done, label %large

large:
  %start = ptrtoint ptr %data to i64
  %beyond = add i64 %start, 4095
  %page = and i64 %beyond, -4096
  %address = inttoptr i64 %page to ptr
  %skipped = sub i64 %page, %start
  %length = sub i64 %size, %skipped
  %ignored = call i32 %function(ptr %address, i64 %length, i32 14)
  br label %done

done:
  ret void
}

define noalias ptr @NRT_MemInfo_alloc_aligned(i64 %size, i32 %align) {
  %alignment = zext i32 %align to i64
  %header = add i64 %alignment, 40
  %whole = add i64 %size, %header
  %function = load ptr, ptr @allocate
  %block = call ptr %function(i64 %whole)
  %failed = icmp eq ptr %block, null
  br i1 %failed, label %done, label %made

made:
  store i64 1, ptr %block
  %start = ptrtoint ptr %block to i64
  %behind = add i64 %start, 40
  %last = sub i64 %alignment, 1
  %beyond = add i64 %behind, %last
  %mask = sub i64 0, %alignment
  %aligned = and i64 %beyond, %mask
  %data = inttoptr i64 %aligned to ptr
  %at_data = getelementptr i8, ptr %block, i64 24
  store ptr %data, ptr %at_data
  %at_size = getelementptr i8, ptr %block, i64 32
  store i64 %size, ptr %at_size
  call void @ask_for_huge_pages(ptr %data, i64 %size)
  br label %done

done:
  ret ptr %block
}

define ptr @NRT_MemInfo_data_fast(ptr %block) {
  %at_data = getelementptr i8, ptr %block, i64 24
  %data = load ptr, ptr %at_data
  ret ptr %data
}

define void @NRT_incref(ptr %block) {
  %none = icmp eq ptr %block, null
  br i1 %none, label %done, label %counted

counted:
  %before = atomicrmw add ptr %block, i64 1 monotonic
  br label %done

done:
  ret void
}

define void @NRT_decref(ptr %block) {
  %none = icmp eq ptr %block, null
  br i1 %none, label %done, label %counted

counted:
  %before = atomicrmw sub ptr %block, i64 1 acq_rel
  %last = icmp eq i64 %before, 1
  br i1 %last, label %free, label %done

free:
  %function = load ptr, ptr @release
  call void %function(ptr %block)
  br label %done

done:
  ret void
}

define void @tbp_release(ptr %block) {
  call void @NRT_decref(ptr %block)
  ret void
}

define ptr @memcpy(ptr %to, ptr %from, i64 %size) {
  %function = load ptr, ptr @move
  %same = call ptr %function(ptr %to, ptr %from, i64 %size)
  ret ptr %same
}

define ptr @memmove(ptr %to, ptr %from, i64 %size) {
  %function = load ptr, ptr @move
  %same = call ptr %function(ptr %to, ptr %from, i64 %size)
  ret ptr %same
}

define ptr @memset(ptr %to, i32 %byte, i64 %size) {
  %function = load ptr, ptr @fill
  %same = call ptr %function(ptr %to, i32 %byte, i64 %size)
  ret ptr %same
}

; What macOS has for setting bytes to 0, under two names.
define void @bzero(ptr %to, i64 %size) {
  %function = load ptr, ptr @fill
  %same = call ptr %function(ptr %to, i32 0, i64 %size)
  ret void
}

define void @__bzero(ptr %to, i64 %size) {
  call void @bzero(ptr %to, i64 %size)
  ret void
}
